import TortureSupport

/// The log agrees with the tables, its rows with those that were copied when they were committed, and the file is sound.
enum Tables {
  static let text = "a replay of the log gives the tables, and integrity_check finds nothing"

  static func violations(in connection: PlainConnection, _ log: LogCopy) -> [String] {
    do {
      return try unsound(connection) + changed(connection, log) + different(connection, log)
    } catch { return ["\(error)"] }
  }

  private static func unsound(_ connection: PlainConnection) throws -> [String] {
    let result = try connection.run("PRAGMA integrity_check").map { $0[0] }
    return result == [PlainValue.text(Array("ok".utf8))] ? [] : ["integrity_check: \(result)"]
  }

  /// Rows of the log that differ from those that were copied when they were committed.
  private static func changed(_ connection: PlainConnection, _ log: LogCopy) throws -> [String] {
    let rows = try connection.run("SELECT seq, nonce FROM changes ORDER BY seq")
    return rows.compactMap { row in
      if case .integer(let seq) = row[0], log.has(seq), .integer(log[seq].nonce) == row[1] { return nil }
      return "row \(row[0]) of the log is not the one that was committed"
    }
  }

  private static func different(_ connection: PlainConnection, _ log: LogCopy) throws -> [String] {
    let replica = try Snapshots.replica(at: log.end, log).users
    let tables = try LogCheck.tables(of: connection)
    if replica == tables { return [] }
    return ["the log gives\n\(LogCheck.show(replica))\nthe tables hold\n\(LogCheck.show(tables))"]
  }
}
