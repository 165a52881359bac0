/// Compares the log with the tables.
///
/// Each check continues where the last one stopped, unless the last row that it read has been rolled back: its number may
/// have been reused since, its nonce may not.
package struct LogCheck {
  private var replica = Replica()
  private var last: LoggedChange?

  package init() {}

  package mutating func check(_ connection: PlainConnection) throws {
    if try wasRolledBack(on: connection) { self = LogCheck() }
    try readLog(of: connection)
    try replica.finish()
    try compare(with: Self.tables(of: connection))
  }

  private func wasRolledBack(on connection: PlainConnection) throws -> Bool {
    guard let last else { return false }
    return try connection.value("SELECT nonce FROM changes WHERE seq = ?", [.integer(last.seq)]) != last.nonce
  }

  private mutating func readLog(of connection: PlainConnection) throws {
    let sql = "SELECT \(LoggedChange.columns) FROM changes WHERE seq > ? ORDER BY seq"
    for row in try connection.run(sql, [.integer(last?.seq ?? 0)]) {
      let change = try LoggedChange(row)
      guard change.seq == (last?.seq ?? 0) + 1 else { throw Mismatch("a gap before \(change)") }
      if !change.isNote {
        do { try replica.apply(change) } catch { throw Mismatch("\(change): \(error)") }
      }
      last = change
    }
  }

  private func compare(with tables: [Int64: Replica.User]) throws(Mismatch) {
    guard replica.users != tables else { return }
    throw Mismatch("the log says\n\(Self.show(replica.users))\nthe tables hold\n\(Self.show(tables))")
  }

  package static func tables(of connection: some PlainSQL) throws -> [Int64: Replica.User] {
    var users: [Int64: Replica.User] = [:]
    for row in try connection.run("SELECT id, name, hair_color FROM users", []) {
      users[try id(row[0])] = Replica.User(name: row[1], hairColor: row[2])
    }
    for row in try connection.run("SELECT user_id, name, value FROM attributes", []) {
      let id = try id(row[0])
      guard users[id] != nil, let name = row[1].utf8 else { throw Mismatch("an attribute without a user: \(row)") }
      users[id]?.attributes[name] = row[2]
    }
    return users
  }

  private static func id(_ value: PlainValue) throws(Mismatch) -> Int64 {
    guard case .integer(let id) = value else { throw Mismatch("\(value) is not an id") }
    return id
  }

  package static func show(_ users: [Int64: Replica.User]) -> String {
    users.sorted { $0.key < $1.key }.map { id, user in
      let attributes = user.attributes.map { "\(PlainValue.text($0.key)): \($0.value)" }.sorted()
      return "  \(id): \(user.name), \(user.hairColor), \(attributes.joined(separator: ", "))"
    }.joined(separator: "\n")
  }
}
