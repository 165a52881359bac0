import TortureSupport

/// Checks of the log and the tables, without the library.
extension LifeInspection {
  func inspectDatabase() throws {
    let connection = try PlainConnection(database, busyTimeout: 1_000)
    let integrity = try connection.run("PRAGMA integrity_check")
    expect(integrity == [["ok"]], "integrity_check: \(integrity)")
    guard try connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'changes'") == 1 else {
      return expect(!claims.isOpened, "the store was opened, but has no tables")
    }
    let log = try WrittenLog(connection)
    try log.checkTables(of: connection, without: claims.purging)
    for user in claims.purging { try log.checkPurge(of: user) }
    for user in claims.purged {
      expect(log.notes.values.contains { $0.user == user }, "user \(user) was purged, which no note says")
    }
    inspectWrites(log)
    for set in Set(claims.received) { inspect(set, log) }
    try inspectConsumer(log, connection)
    try inspectUnique(connection)
  }

  /// The unique attribute, its index, and its two triggers are there together, or none of them is.
  private func inspectUnique(_ connection: PlainConnection) throws {
    let rules = try connection.run("SELECT attribute FROM userstore_unique")
    let parts = try connection.run(
      "SELECT type FROM sqlite_schema WHERE name GLOB 'userstore_unique_*' AND type <> 'table' ORDER BY type")
    expect(rules.isEmpty || rules == [["last"]], "the unique attributes are \(rules)")
    expect(parts == (rules.isEmpty ? [] : [["index"], ["trigger"], ["trigger"]]), "of \(rules), the file has \(parts)")
    expect(!claims.isUnique || !rules.isEmpty, "an attribute was made unique, and is not")
  }

  private func inspectWrites(_ log: WrittenLog) {
    for (name, cursor) in claims.written {
      guard let cursor = CursorText(cursor) else {
        let isThere = !log.marks(of: name).isEmpty
        violations.append(isThere ? "\(name) returned before its listener was called" : Self.lost(name))
        continue
      }
      if cursor.epoch == log.epoch, cursor.revision < log.horizon { continue }
      let isThere = cursor.revision == log.horizon || log.marks[cursor.revision]?.origin == name
      expect(isThere && log.holds(cursor), Self.lost(name))
    }
    for (name, code, _) in claims.failed where code != "commitUnknown" {
      expect(log.marks(of: name).isEmpty, "\(name) failed with \(code) and is in the log")
    }
    let origins = log.marks.values.compactMap(\.origin)
    expect(Set(origins).count == origins.count, "a write is in the log twice: \(origins.sorted())")
  }

  private static func lost(_ name: String) -> String { "\(name) was acknowledged and is not in the log" }

  private func inspect(_ set: AnnouncedSet, _ log: WrittenLog) {
    guard let cursor = CursorText(set.cursor), set.origin != "reset" else {
      return violations.append("a listener received a reset")
    }
    if cursor.epoch == log.epoch, cursor.revision <= log.horizon { return }
    guard log.holds(cursor) else {
      return violations.append("a listener received \(set.origin ?? "a foreign write"), which is not in the log")
    }
    let first = log.marks[cursor.revision]?.first ?? cursor.revision - Int64(set.changes.count) + 1
    let rows = (first...max(first, cursor.revision)).compactMap { log.rows[$0] }
    let isPurged = set.changes.contains { claims.purging.contains($0.user) }
    expect(
      isPurged || rows.map(\.announced) == set.changes, "a listener received a set that differs from the log: \(set)")
  }

  private func inspectConsumer(_ log: WrittenLog, _ connection: PlainConnection) throws {
    let effect = try connection.value("SELECT value FROM attributes WHERE name = 'effect'")?.utf8
      .flatMap { CursorText(String(decoding: $0, as: UTF8.self)) }
    let row = try connection.run("SELECT epoch, seq, nonce FROM consumers WHERE name = 'mailer'").first
    guard let row, case .integer(let epoch) = row[0], case .integer(let seq) = row[1], case .integer(let nonce) = row[2]
    else { return expect(claims.covered.isEmpty && effect == nil, "the consumer is gone") }
    let position = CursorText(epoch: epoch, revision: seq, nonce: nonce)
    for covered in claims.covered.compactMap({ CursorText($0) }) {
      expect(covered.revision <= seq, "the consumer acknowledged \(covered.revision), but is at \(seq)")
    }
    if let effect {
      expect(effect.revision <= seq, "the effect of \(effect.revision) is there, but not its acknowledgment")
    }
    let isKnown = claims.covering.contains { CursorText($0) == position } || effect == position
    expect(isKnown || seq == 0, "the consumer is at \(seq), which was not acknowledged")
    expect(seq < log.horizon || log.holds(position), "the consumer is at \(seq), which is not in the log")
  }
}

extension WrittenLog.Row {
  fileprivate var announced: AnnouncedChange {
    AnnouncedChange(kind: op == 1 ? "a" : op == 3 ? "r" : "u", user: user, attribute: attribute, old: old, new: new)
  }
}
