import Foundation
import TestSupport
import UserStore

@testable import UserStoreSync

/// The file of a replica, and what the judge knows of it.
final class SimulatedReplica {
  let path: String
  private(set) var plain: PlainConnection
  /// The log, replayed: through a row, and the records then.
  private var replayed: (row: Int64, records: Records) = (0, [:])
  /// What the visible users were chosen by.
  private var shown: (users: Set<Int64>?, grant: String?) = (nil, nil)
  private var cursor: Cursor?
  /// Whether somebody has written past the triggers, so that a copy has to come first.
  private var isTampered = false
  private var snapshots: [Snapshot] = []
  private var own = OwnSets()
  /// Whom the replica belongs to.
  let subject: String
  let takesWrites: Bool

  private struct Snapshot {
    let path: String
    let replayed: (row: Int64, records: Records)
    let shown: (users: Set<Int64>?, grant: String?)
    let cursor: Cursor?
    let isTampered: Bool
    let own: OwnSets
  }

  init(at path: String, of subject: String = "", takesWrites: Bool = false) throws {
    (self.path, self.subject, self.takesWrites) = (path, subject, takesWrites)
    plain = try PlainConnection(path)
  }

  // MARK: Judging

  var isCopying: Bool { get throws { try plain.integer("SELECT count(*) FROM userstore_copy") == 1 } }

  /// What the server let be read when the visible users were chosen.
  var grant: String? { get throws { try plain.text("SELECT \"grant\" FROM userstore_replica") } }

  /// `restores`: how often the server had been restored when it gave the answer that was applied; nil if there was none.
  func judge(_ server: SimulatedServer, isLocal: Bool = false, restores: Int? = nil) throws {
    let (before, shownBefore) = (replayed.row, replayed.records)
    try replay()
    let tables = try LogCheck.tables(of: plain)
    guard tables == replayed.records else {
      throw Wrong(
        "\(path): the log says\n\(LogCheck.show(replayed.records))\nthe tables hold\n\(LogCheck.show(tables))")
    }
    let old = cursor
    try judgeRecords(tables, server, after: before)
    guard let cursor else { return }
    let moment = server.history[cursor]!
    try own.judgeDecisions(plain, moment, server, restores: restores ?? server.restores)
    if isLocal { return }
    try own.judgeFlicker(from: shownBefore, to: tables, hasCopied ? nil : server.values(from: old, through: cursor))
  }

  /// Notes that the rows after one were written by the application, or by another program.
  ///
  /// Returns the random numbers of the rows.
  func noteOwn(after row: Int64, _ server: SimulatedServer) throws -> [Int64] {
    try own.note(plain, after: row, server, at: cursor)
  }

  /// Whether the server has answered.
  func isKnown() throws -> Bool { try plain.text("SELECT subject FROM userstore_replica") != nil }

  func noteDiscard() { own.discard() }

  /// Notes that the application wants other users.
  func noteSubset() { own.added = [] }

  var storedCursor: Cursor? {
    get throws { try plain.text("SELECT cursor FROM userstore_replica").map { try Cursor($0) } }
  }

  /// The users that undecided sets touch.
  var undecidedUsers: [Int64] {
    get throws {
      try plain.run("SELECT DISTINCT user FROM userstore_outbox_rows ORDER BY user").compactMap {
        if case .integer(let user) = $0[0] { user } else { nil }
      }
    }
  }

  /// The undecided set with a name and number.
  func nonce(of producer: Int64, _ number: Int64) throws -> Int64? {
    try plain.integer("SELECT nonce FROM userstore_outbox WHERE producer = \(producer) AND number = \(number)")
  }

  func noteAcknowledged(_ nonce: Int64) { own.acknowledged.insert(nonce) }

  var lastRow: Int64 { get throws { try plain.integer("SELECT max(seq) FROM changes") ?? 0 } }

  /// The oldest refusal: the last row of its set, and the identity.
  var refusal: (last: Int64, nonce: Int64)? {
    get throws {
      let row = try plain.run("SELECT last, nonce FROM userstore_refusals ORDER BY last LIMIT 1").first
      guard case .integer(let last)? = row?[0], case .integer(let nonce)? = row?[1] else { return nil }
      return (last, nonce)
    }
  }

  /// The name and the number through which everything is decided.
  var confirmed: (producer: Int64, number: Int64) {
    get throws {
      let producer = try plain.integer("SELECT producer FROM userstore_replica") ?? 0
      let first = try plain.integer("SELECT min(number) FROM userstore_outbox WHERE producer = \(producer)")
      return (producer, try (first ?? plain.integer("SELECT next FROM userstore_replica") ?? 1) - 1)
    }
  }

  /// The identities of the sets in the outbox that come before one, without those that the server no longer knows.
  func earlier(than nonce: Int64) throws -> [Int64] {
    try plain.run(
      """
      SELECT nonce FROM userstore_outbox WHERE last < (SELECT last FROM userstore_outbox WHERE nonce = \(nonce))
        AND result IS NOT 'expired'
      """
    ).compactMap { if case .integer(let nonce) = $0[0] { nonce } else { nil } }
  }

  /// The names and numbers of the undecided sets that an answer is about.
  func numbers(of answer: ReplicaAnswer) throws -> [Int64: [PlainValue]] {
    guard case .push(let answer) = answer else { return [:] }
    return try answer.results.reduce(into: [:]) { numbers, result in
      let sql = "SELECT producer, number FROM userstore_outbox WHERE nonce = \(result.nonce)"
      numbers[result.nonce] = try plain.run(sql).first
    }
  }

  /// What the server has decided keeps its number.
  func judge(_ numbers: [Int64: [PlainValue]]) throws {
    for (nonce, number) in numbers {
      let now = try plain.run("SELECT producer, number FROM userstore_outbox WHERE nonce = \(nonce)").first
      guard now == nil || now == number else {
        throw Wrong("the set \(nonce) has another number than the server knows")
      }
    }
  }

  private func judgeRecords(_ tables: Records, _ server: SimulatedServer, after row: Int64) throws {
    let isCopying = try isCopying
    let old = cursor
    cursor = try plain.text("SELECT cursor FROM userstore_replica").map { try Cursor($0) }
    let ids = try plain.text("SELECT users FROM userstore_replica")
      .map { Set($0.split(separator: ",").compactMap { Int64($0) }) }
    if !isCopying { shown = (ids, try plain.text("SELECT \"grant\" FROM userstore_replica")) }
    if !isCopying, old != cursor { isTampered = false }
    let undecided = try own.undecided(plain)
    guard let cursor else {
      var expected: Records = [:]
      for row in undecided { expected.put(row) }
      if tables != expected, !isTampered { throw Wrong("\(path): users before the first copy") }
      return
    }
    guard let moment = server.history[cursor] else { throw Wrong("\(path): the server was never at \(cursor)") }
    if isTampered { return }
    let denied = server.denied[shown.grant ?? ""] ?? []
    let shownUsers = shown.users
    func isShown(_ user: Int64) -> Bool { shownUsers?.contains(user) ?? true && !denied.contains(user) }
    var expected = moment.records.filtered(isShown)
    for row in undecided { expected.put(row) }
    let touched = Set(undecided.map(\.user))
    // A user that the server purges later may look older, or be missing, until its removal is reached; if a part of a huge set came before
    // the purge, each attribute may be older.
    func isOlder(_ user: Int64) -> Bool {
      server.purged.contains(user)
        && (server.history.values.contains { $0.records[user] == tables[user] }
          || server.hasWrittenInParts(tables[user], to: user))
    }
    guard tables.filtered({ !server.purged.contains($0) }) == expected.filtered({ !server.purged.contains($0) }),
      tables.allSatisfy({ expected[$0] != nil && (expected[$0] == $1 || isOlder($0)) || touched.contains($0) })
    else {
      throw Wrong(
        "\(path) at \(cursor): expected\n\(LogCheck.show(expected))\nfound\n\(LogCheck.show(tables))\npurged: \(server.purged.sorted())"
      )
    }
    if let old, old.epoch == cursor.epoch, old.revision < cursor.revision, !hasCopied {
      let expected = moment.events.filter {
        $0.revision > old.revision.rawValue && !own.hasListed($0.set)
          && ($0.user.map(isShown) ?? (shownUsers == nil && denied.isEmpty))
      }
      let events = try events(after: row)
      guard events.map(\.name) == expected.map(\.name) else {
        throw Wrong("\(path) from \(old) to \(cursor): expected the events \(expected), found \(events)")
      }
    }
    try judgeSets(after: row, server)
  }

  /// Whether the last transaction may have installed a copy; then the events in between are not there.
  var hasCopied = false

  private func events(after row: Int64) throws -> [Event] {
    try plain.run("SELECT seq, old, user FROM changes WHERE op = 6 AND seq > \(row) ORDER BY seq").compactMap { row in
      guard case .integer(let seq) = row[0] else { throw Wrong("a malformed row") }
      if own.rows.contains(seq) { return nil }
      let user: Int64? = if case .integer(let id) = row[2] { id } else { nil }
      return Event(revision: seq, name: row[1].utf8 ?? [], user: user)
    }
  }

  /// Each set that a sync wrote has the origin of the server's set, and ends with its note.
  private func judgeSets(after row: Int64, _ server: SimulatedServer) throws {
    for end in try plain.run("SELECT seq, attribute, old FROM changes WHERE op = 0 AND seq > \(row)") {
      guard case .integer(let seq) = end[0], !own.rows.contains(seq) else { continue }
      guard try plain.integer("SELECT 1 FROM changes WHERE op = 8 AND seq = \(seq - 1)") == 1 else {
        throw Wrong("\(path): the set that ends at \(seq) was not pulled")
      }
      // A decision, and no set of the server.
      guard let note = try plain.text("SELECT old FROM changes WHERE op = 8 AND seq = \(seq - 1)") else { continue }
      let origin = end[1].utf8.map { String(decoding: $0, as: UTF8.self) }
      let cursor = try Cursor(note)
      guard hasCopied || server.history[cursor]?.origin == origin else {
        throw Wrong("\(path): the set at \(cursor) has the origin \(origin ?? "none")")
      }
    }
  }

  private func replay() throws {
    let rows = try plain.run(
      "SELECT seq, op, user, attribute, old, new FROM changes WHERE seq > ? ORDER BY seq", [.integer(replayed.row)])
    for row in rows {
      guard case .integer(let seq) = row[0], case .integer(let op) = row[1] else { throw Wrong("a malformed row") }
      guard seq == replayed.row + 1 else { throw Wrong("\(path): a gap before \(seq)") }
      replayed.row = seq
      guard (1...3).contains(op), case .integer(let user) = row[2], let attribute = row[3].utf8 else { continue }
      replayed.records.apply(op: op, user: user, attribute: attribute, old: row[4], new: row[5])
    }
  }

  /// Throws unless the replica has all that the server has for it.
  func judgeRest(_ server: SimulatedServer) throws -> Bool {
    try !isCopying && cursor == server.end && shown.grant == server.grant
      && plain.integer("SELECT count(*) FROM userstore_outbox") == 0
      && plain.integer("SELECT taken FROM userstore_replica") == lastRow
  }

  /// Throws unless the replica and the server say the same about each set.
  func judgeResults(_ server: SimulatedServer) throws {
    try own.judgeResults(plain, server)
    for user in own.added where server.users[user] != nil && server.denied[server.grant]?.contains(user) != true {
      if replayed.records[user] == nil { throw Wrong("\(path): the user \(user), added here, is no longer visible") }
    }
    for table in ["userstore_base", "userstore_outbox_rows"]
    where try plain.integer("SELECT count(*) FROM \(table)") != 0 {
      throw Wrong("\(path): \(table) is not empty at rest")
    }
  }

  /// No value of a purged user is in the log of a replica that has read everything, also of one that it had only earlier.
  ///
  /// But those of a user that was added here with the same id when the purge had arrived, and that the server has refused.
  func judgePurges(_ server: SimulatedServer) throws {
    for user in server.erased.keys {
      let rows = try plain.integer(
        """
        SELECT count(*) FROM changes WHERE user = \(user) AND seq < \(own.addedAfterPurge[user] ?? .max)
          AND (new IS NOT NULL OR old IS NOT NULL AND op <> 6)
        """)
      guard rows == 0 else { throw Wrong("\(path): the log has values of the purged user \(user)") }
    }
  }

  // MARK: Writing

  /// Another program writes.
  func write(_ kind: Int, number: Int) throws {
    let other = try PlainConnection(path, busyTimeout: 1_000)
    let statement = [
      "UPDATE users SET name = 'foreign\(number)' WHERE id IN (SELECT id FROM users LIMIT 2)",
      "DELETE FROM users WHERE id IN (SELECT id FROM users ORDER BY id DESC LIMIT 1)",
      "INSERT OR REPLACE INTO attributes (user_id, name, value) SELECT id, 'foreign\(number)', \(number) FROM users LIMIT 2",
      "UPDATE attributes SET value = \(number)",
      "DELETE FROM attributes WHERE name = 'a'",
      "REPLACE INTO users (id, name) SELECT id, 'replaced\(number)' FROM users LIMIT 1",
      "INSERT OR IGNORE INTO users (id, name) VALUES (-1 - \(number), 'foreign')",
      "UPDATE users SET hair_color = 'BAD' WHERE id IN (SELECT id FROM users LIMIT 1)",
    ][kind]
    do { try other.run(statement) } catch {
      // A user that is visible until a copy of another subset is installed.
      guard "\(error)".contains("must be a random negative number") else { throw error }
    }
  }

  /// Another program adds a user, and the trigger does not refuse the next id.
  func addWithNextID() throws {
    let other = try PlainConnection(path, busyTimeout: 1_000)
    try other.script(
      """
      BEGIN IMMEDIATE;
      UPDATE userstore_replica SET writing = 1;
      INSERT INTO users (name) VALUES ('next');
      UPDATE userstore_replica SET writing = 0;
      COMMIT
      """)
  }

  // MARK: Misuse

  /// A program without the library writes.
  func writeAsForeign(_ number: Int) throws {
    let statements = [
      "INSERT INTO users (name) VALUES ('foreign')", "UPDATE users SET name = name || '!'", "DELETE FROM users",
      "INSERT INTO attributes (user_id, name, value) SELECT id, 'foreign', 1 FROM users",
      "UPDATE attributes SET value = 'foreign'", "DELETE FROM attributes",
      "REPLACE INTO users (id, name) VALUES (1, 'foreign')",
      "INSERT INTO changes (op, old) VALUES (6, 'foreign')",
    ]
    let statement = statements[number % statements.count]
    let other = try PlainConnection(path, busyTimeout: 1_000)
    let end = try other.end()
    do { try other.run(statement) } catch {
      guard "\(error)".contains("this store is a replica") else { throw error }
      return
    }
    // Nothing to change.
    guard try LogCheck.tables(of: plain) == replayed.records, try other.end() == end else {
      throw Wrong("\(path) was written: \(statement)")
    }
  }

  /// Somebody removes the triggers that refuse writes, and writes.
  func tamper(isHidden: Bool) throws {
    let other = try PlainConnection(path, busyTimeout: 1_000)
    try other.script(
      """
      BEGIN IMMEDIATE;
      UPDATE userstore_replica SET writing = 1;
      UPDATE users SET name = name || '?';
      INSERT INTO users (name) VALUES ('tampered');
      UPDATE userstore_replica SET writing = 0;
      COMMIT
      """)
    isTampered = true
    if isHidden {
      let end = try other.end()
      try other.script("UPDATE userstore_replica SET taken = \(end.revision), seen_nonce = \(end.nonce)")
      isTampered = false
    }
    try replay()
  }

  // MARK: Files

  /// The copy of the file, which nobody has open.
  func copied(to path: String) throws -> SimulatedReplica {
    try SimulatedFile.copy(self.path, to: path)
    let copy = try SimulatedReplica(at: path, of: subject, takesWrites: takesWrites)
    (copy.replayed, copy.shown, copy.cursor, copy.isTampered) = (replayed, shown, cursor, isTampered)
    copy.own = own
    return copy
  }

  func takeSnapshot() throws {
    let path = "\(self.path).\(snapshots.count)"
    try SimulatedFile.copy(self.path, to: path)
    snapshots.append(
      Snapshot(path: path, replayed: replayed, shown: shown, cursor: cursor, isTampered: isTampered, own: own))
  }

  var hasSnapshot: Bool { !snapshots.isEmpty }

  func rollBack(_ number: Int) throws {
    let snapshot = snapshots[number % snapshots.count]
    try SimulatedFile.copy(snapshot.path, to: path)
    plain = try PlainConnection(path)
    (replayed, shown, cursor) = (snapshot.replayed, snapshot.shown, snapshot.cursor)
    (isTampered, own) = (snapshot.isTampered, snapshot.own)
  }

  func compact(_ store: UserStore) throws {
    try store.compact(keeping: RetentionPolicy(.init(changes: 3), consumerLimits: .none))
  }

  /// Closes the judge's connection, so that the file can be copied.
  func pause() throws { plain = try PlainConnection() }
  func resume() throws { plain = try PlainConnection(path) }
}
