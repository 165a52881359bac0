import Foundation
import TestSupport
import UserStore

@testable import UserStoreSync

/// A server of replicas: a store, its backups, and what was true at each of its cursors.
final class SimulatedServer {
  /// The state after a transaction.
  struct Moment {
    var records: Records = [:]
    var events: [Event] = []
    /// The origin of the set that ends here.
    var origin: String?
    /// The values that the set has written.
    var values: Set<WrittenValue> = []
    /// The sets of replicas that were applied, by their random numbers.
    var applied: Set<Int64> = []
  }

  struct SetNumber: Hashable {
    let producer: Int64
    let number: Int64
  }

  private struct Backup {
    let moment: Moment
    let decisions: [Int64: String]
    let numbers: [SetNumber: Int64]
    let erased: [Int64: Cursor]
  }

  let database: any SimulatedDatabase
  private(set) var store: UserStore
  private(set) var service: SyncService
  private let limits: SyncService.Limits
  /// A connection without the library: opening one for each look costs more than the look.
  private var connection: (any PlainSQL)?
  private(set) var history: [Cursor: Moment] = [:]
  /// The cursors of the history, in their order.
  private var cursors: [Cursor] = []
  private(set) var end = Cursor(epoch: 0, revision: 0, nonce: 0)
  /// What was decided about sets of replicas, in this history of the records.
  private(set) var decisions: [Int64: String] = [:]
  /// The set that was decided under each name and number, in this history of the records.
  var numbers: [SetNumber: Int64] = [:]
  /// The sets that were accepted and changed nothing.
  private(set) var unchanged: Set<Int64> = []
  /// The sets that were decided, also in a history of the records that was lost since.
  private(set) var everDecided: Set<Int64> = []
  /// The largest id that a user has had.
  private(set) var largestID: Int64 = 0
  private(set) var restores = 0
  private var backups: [Backup] = []
  /// The users whose values were purged, ever.
  private(set) var purged: Set<Int64> = []
  /// Those of them that were not added again since, and the place of the purge in the log.
  private(set) var erased: [Int64: Cursor] = [:]
  /// What each grant hides.
  private(set) var denied: [String: Set<Int64>] = ["g0": []]
  private(set) var grant = "g0"

  init(in database: any SimulatedDatabase, _ limits: SyncService.Limits) throws {
    self.database = database
    self.limits = limits
    store = try database.open()
    service = try SyncService(store, limits)
    try commit()
  }

  var plain: any PlainSQL {
    get throws {
      if let connection { return connection }
      let new = try database.connect()
      connection = new
      return new
    }
  }

  static var configuration: UserStore.Configuration {
    var configuration = UserStore.Configuration()
    configuration.durability = .normal
    configuration.watchesOtherProcesses = false
    configuration.retention = .unlimited
    return configuration
  }

  var users: Records { history[end]?.records ?? [:] }

  /// What the sets from one cursor through another have written; nil if it is not known.
  func values(from start: Cursor?, through end: Cursor) -> Set<WrittenValue>? {
    guard let start, start.epoch == end.epoch else { return nil }
    if start == end { return [] }
    return cursors.reversed().reduce(into: []) { values, cursor in
      guard cursor.epoch == end.epoch, cursor.revision > start.revision, cursor.revision <= end.revision else { return }
      values.formUnion(history[cursor]?.values ?? [])
    }
  }

  /// Whether each value of a record was written to a user, perhaps by different sets, one of which was huge and came in parts.
  func hasWrittenInParts(_ record: Records.Value?, to user: Int64) -> Bool {
    guard let record, history.values.contains(where: { $0.origin == "huge" }) else { return false }
    let values = history.values.reduce(into: Set<WrittenValue>()) { $0.formUnion($1.values) }
    var all = record.attributes
    all[Array("name".utf8)] = record.name
    if record.hairColor != .null { all[Array("hair_color".utf8)] = record.hairColor }
    return all.allSatisfy { values.contains(WrittenValue(user: user, attribute: $0, value: $1)) }
  }

  /// Notes what was true at the end of each set since the last commit.
  private func commit(restored: Moment? = nil) throws {
    let plain = try plain
    let records = try LogCheck.tables(of: plain)
    let last = try plain.end()
    if restored != nil || history[end] == nil {
      // A restored file: what was true there still is.
      if history[last] == nil {
        history[last] = Moment(records: records, events: restored?.events ?? [], applied: restored?.applied ?? [])
      }
    } else {
      try replay(plain, after: end, to: last)
      guard history[last]?.records == records else { throw Wrong("the server's log does not describe its records") }
    }
    end = last
    for user in records.keys { erased[user] = nil }
    // Also one that was added and removed in one set.
    let added = "SELECT DISTINCT \"user\" FROM changes WHERE op = 1 AND attribute = 'name' AND new IS NOT NULL"
    for case .integer(let user) in try plain.run(added).map({ $0[0] }) {
      erased[user] = nil
      largestID = max(largestID, user)
    }
    try judgeDecisions(plain, isRestored: restored != nil)
  }

  private func replay(_ plain: any PlainSQL, after start: Cursor, to last: Cursor) throws {
    var moment = history[start]!
    (moment.origin, moment.values) = (nil, [])
    var firstOfSet = start.revision.rawValue
    let rows = try plain.run(
      "SELECT seq, op, \"user\", attribute, old, new, nonce FROM changes WHERE seq > \(start.revision) ORDER BY seq")
    for row in rows {
      guard case .integer(let seq) = row[0], case .integer(let op) = row[1], case .integer(let nonce) = row[6] else {
        throw Wrong("a malformed row")
      }
      let user: Int64? = if case .integer(let id) = row[2] { id } else { nil }
      switch (op, user, row[4]) {
      case (1...3, let user?, _):
        moment.records.apply(op: op, user: user, attribute: row[3].utf8 ?? [], old: row[4], new: row[5])
        moment.values.insert(WrittenValue(user: user, attribute: row[3].utf8 ?? [], value: row[5]))
      case (6, _, _): moment.events.append(Event(revision: seq, name: row[4].utf8 ?? [], user: user))
      case (9, _, .integer(let number)):
        guard moment.applied.insert(number).inserted else { throw Wrong("the set \(number) was applied twice") }
        for index in moment.events.indices where moment.events[index].revision > firstOfSet {
          moment.events[index].set = number
        }
      default: break
      }
      guard op == 0 || seq == last.revision.rawValue else { continue }
      if op == 0 { moment.origin = row[3].utf8.map { String(decoding: $0, as: UTF8.self) } }
      let cursor = Cursor(epoch: last.epoch, revision: seq, nonce: nonce)
      history[cursor] = moment
      cursors.append(cursor)
      (moment.origin, moment.values) = (nil, [])
      firstOfSet = seq
    }
  }

  /// What was decided stays, unless the records are restored, or it is forgotten.
  private func judgeDecisions(_ plain: any PlainSQL, isRestored: Bool) throws {
    for row in try plain.run("SELECT nonce, result FROM userstore_decisions") {
      guard case .integer(let nonce) = row[0], let result = row[1].utf8.map({ String(decoding: $0, as: UTF8.self) })
      else { throw Wrong("a malformed decision") }
      let known = decisions.updateValue(result, forKey: nonce)
      guard known == nil || known == result else { throw Wrong("the set \(nonce) was \(known!), and then \(result)") }
      everDecided.insert(nonce)
      if known == nil, !isRestored, result == "accepted", history[end]?.applied.contains(nonce) == false {
        unchanged.insert(nonce)
      }
    }
  }

  /// Answers a request with a status and a body.
  func answer(_ request: SyncRequest, grant: String, subject: String = "") async throws -> (status: Int, body: [UInt8])
  {
    let hidden = Set((denied[grant] ?? []).map { User.ID($0) })
    let access = SyncService.Access(subject: subject, hiding: hidden, grant: grant)
    do {
      let received = try SyncRequest(
        path: request.path, query: request.query, body: request.body ?? [], replica: request.replica)
      guard received == request else {
        throw Wrong("the request was read as another one: \(request.path)?\(request.query)")
      }
      let body = try await service.answer(received, for: access).body
      if request.isPush { try commit() }
      return (200, body)
    } catch let error as StoreError {
      let response = SyncResponse(error)
      return (response.status, try await response.bytes())
    }
  }

  /// The cursor at the same row of the log as it is now; the cursor itself if there is no such row.
  func cursor(like cursor: Cursor) throws -> Cursor {
    let nonce = try plain.integer("SELECT nonce FROM changes WHERE seq = \(cursor.revision)")
    return nonce.map { Cursor(epoch: cursor.epoch, revision: cursor.revision.rawValue, nonce: $0) } ?? cursor
  }

  /// Whether a replica at this cursor has what the log says.
  func hasInLog(_ cursor: Cursor) throws -> Bool {
    let plain = try plain
    let nonce = try plain.integer(
      """
      SELECT nonce FROM changes WHERE seq = \(cursor.revision)
      UNION ALL SELECT horizon_nonce FROM meta WHERE horizon = \(cursor.revision)
      """)
    return try plain.integer("SELECT epoch FROM meta") == cursor.epoch && nonce == cursor.nonce
  }

  /// Whether a replica at this cursor has read the purge of a user that was not added again since.
  func hasRead(purgeOf user: Int64, at cursor: Cursor) -> Bool {
    guard let purge = erased[user] else { return false }
    return purge.epoch == cursor.epoch ? purge.revision <= cursor.revision : cursor.epoch == end.epoch
  }

  // MARK: Writing

  func write(origin: String?, _ body: (inout WriteTransaction) throws -> Void) throws {
    try store.write(origin: origin) { try body(&$0) }
    try commit()
  }

  /// A program without the library writes in one transaction.
  func writeAsForeign(_ statements: [String]) throws {
    let plain = try plain
    try plain.script("BEGIN")
    for statement in statements { try plain.run(statement) }
    try plain.script("COMMIT")
    try commit()
  }

  func post(_ name: String, about user: Int64?) throws {
    try store.write { transaction in try transaction.post(name, about: user.map { User.ID($0) }) }
    try commit()
  }

  func purge(_ user: Int64) throws {
    try store.purge(User.ID(user))
    purged.insert(user)
    try commit()
    erased[user] = end
  }

  func compact(keeping rows: Int) throws {
    try store.compact(keeping: RetentionPolicy(.init(changes: rows), consumerLimits: .none))
  }

  func deny(_ users: Set<Int64>) {
    grant = "g\(denied.count)"
    denied[grant] = users
  }

  /// Forgets decisions that the replicas have confirmed, as when the log was compacted.
  func forgetDecisions(through number: Int64, of producer: Int64) throws {
    try store.write { transaction in
      try transaction.session.replicated?.forgetDecisions(of: producer, through: number, before: .max)
    }
  }

  // MARK: Backups

  var hasBackup: Bool { !backups.isEmpty }

  func backUp() throws {
    try database.backUp(self, as: backups.count)
    backups.append(Backup(moment: history[end]!, decisions: decisions, numbers: numbers, erased: erased))
  }

  /// Restores a backup.
  ///
  /// `number` chooses it; nil is the newest one.
  func restore(_ number: Int?, asFile: Bool, keepsDecisions: Bool = false) throws {
    let index = number.map { $0 % backups.count } ?? backups.count - 1
    let backup = backups[index]
    let kept = keepsDecisions ? try plain.run("SELECT * FROM userstore_decisions") : []
    connection = nil
    try database.restore(self, from: index, asFile: asFile)
    for row in kept { try plain.run("REPLACE INTO userstore_decisions VALUES (?, ?, ?, ?, ?, ?)", row) }
    restores += 1
    (decisions, numbers) = (backup.decisions, backup.numbers)
    // The values of users that were purged later are there again.
    erased = erased.filter { backup.erased[$0.key] != nil }
    try commit(restored: backup.moment)
  }

  /// Closes the store for `body`, which copies or replaces the database.
  func whileClosed(_ body: () throws -> Void) throws {
    connection = nil
    store.close()
    try body()
    store = try database.open()
    service = try SyncService(store, limits)
  }

  func close() {
    connection = nil
    store.close()
    database.remove()
  }
}
