import Foundation
import TestSupport
import UserStore

@testable import UserStoreSync

/// A server of replicas: a store in a file, its backups, and what was true at each of its cursors.
final class SimulatedServer {
  /// The state after a transaction.
  struct Moment {
    let records: Records
    let events: [Event]
    /// The origin of the set that ends here.
    let origin: String?
  }

  private struct Backup {
    let path: String
    let events: [Event]
    let erased: Set<Int64>
  }

  let path: String
  private(set) var store: UserStore
  private(set) var service: SyncService
  private let limits: SyncService.Limits
  private(set) var history: [Cursor: Moment] = [:]
  private(set) var end = Cursor(epoch: 0, revision: 0, nonce: 0)
  private var events: [Event] = []
  private var backups: [Backup] = []
  /// The users whose values were purged, ever.
  private(set) var purged: Set<Int64> = []
  /// Those of them that were not added again since.
  private(set) var erased: Set<Int64> = []
  /// What each grant hides.
  private(set) var denied: [String: Set<Int64>] = ["g0": []]
  private(set) var grant = "g0"
  private let folder: String

  init(in folder: String, _ limits: SyncService.Limits) throws {
    self.folder = folder
    path = folder + "/server.db"
    self.limits = limits
    store = try UserStore(path: path, configuration: Self.configuration)
    service = try SyncService(store, limits)
    try commit()
  }

  static var configuration: UserStore.Configuration {
    var configuration = UserStore.Configuration()
    configuration.durability = .normal
    configuration.watchesOtherProcesses = false
    configuration.retention = .unlimited
    return configuration
  }

  var users: Records { history[end]?.records ?? [:] }

  private func commit(origin: String? = nil) throws {
    let plain = try PlainConnection(path)
    end = try plain.end()
    // A write that changed nothing, or a restored file: what was true there still is.
    let records = try LogCheck.tables(of: plain)
    erased.subtract(records.keys)
    // Also one that was added and removed in one set.
    let added = "SELECT DISTINCT user FROM changes WHERE op = 1 AND attribute = 'name' AND new IS NOT NULL"
    for row in try plain.run(added) { if case .integer(let user) = row[0] { erased.remove(user) } }
    if history[end] == nil { history[end] = Moment(records: records, events: events, origin: origin) }
  }

  /// Answers a request with a status and a body.
  func answer(_ request: SyncRequest, grant: String) async throws -> (status: Int, body: [UInt8]) {
    let hidden = denied[grant] ?? []
    let mayRead: @Sendable (Int64) -> Bool = { !hidden.contains($0) }
    let reader = SyncService.Reader(grant: grant, mayRead: hidden.isEmpty ? nil : mayRead)
    do {
      let received = try SyncRequest(
        path: request.path, query: request.query, body: request.body ?? [], replica: request.replica)
      guard received == request else {
        throw Wrong("the request was read as another one: \(request.path)?\(request.query)")
      }
      return (200, try await service.answer(received, for: reader).body)
    } catch let error as StoreError {
      let response = SyncResponse(error)
      return (response.status, try await response.bytes())
    }
  }

  /// The cursor at the same row of the log as it is now; the cursor itself if there is no such row.
  func cursor(like cursor: Cursor) throws -> Cursor {
    let nonce = try PlainConnection(path).integer("SELECT nonce FROM changes WHERE seq = \(cursor.revision)")
    return nonce.map { Cursor(epoch: cursor.epoch, revision: cursor.revision.rawValue, nonce: $0) } ?? cursor
  }

  // MARK: Writing

  func write(origin: String?, _ body: (inout WriteTransaction) throws -> Void) throws {
    try store.write(origin: origin) { try body(&$0) }
    try commit(origin: origin)
  }

  func writeAsForeign(_ sql: [(String, [PlainValue])]) throws {
    let plain = try PlainConnection(path, busyTimeout: 1_000)
    try plain.script("PRAGMA recursive_triggers = OFF; BEGIN IMMEDIATE")
    for (text, values) in sql { try plain.run(text, values) }
    try plain.script("COMMIT")
    try commit()
  }

  func post(_ name: String, about user: Int64?) throws {
    try store.write { transaction in try transaction.post(name, about: user.map { User.ID($0) }) }
    let end = try PlainConnection(path).end()
    events.append(Event(revision: end.revision.rawValue - 1, name: Array(name.utf8), user: user))
    try commit()
  }

  func purge(_ user: Int64) throws {
    try store.purge(User.ID(user))
    purged.insert(user)
    erased.insert(user)
    try commit()
  }

  func compact(keeping rows: Int) throws {
    try store.compact(keeping: RetentionPolicy(.init(changes: rows), consumerLimits: .none))
  }

  func deny(_ users: Set<Int64>) {
    grant = "g\(denied.count)"
    denied[grant] = users
  }

  // MARK: Backups

  var hasBackup: Bool { !backups.isEmpty }

  func backUp() throws {
    let path = "\(folder)/backup\(backups.count).db"
    try store.backup(to: path, ignoringProblems: true)
    backups.append(Backup(path: path, events: events, erased: erased))
  }

  /// Restores a backup with the library, which begins a new epoch, or by copying the file over.
  func restore(_ number: Int, asFile: Bool) throws {
    let backup = backups[number % backups.count]
    if asFile {
      store.close()
      try SimulatedFile.copy(backup.path, to: path)
      store = try UserStore(path: path, configuration: Self.configuration)
      service = try SyncService(store, limits)
    } else {
      try store.restore(from: backup.path, ignoringProblems: true)
    }
    events = backup.events
    // The values of users that were purged later are there again.
    erased.formIntersection(backup.erased)
    try commit()
  }

  func close() { store.close() }
}

/// Files of SQLite that nobody has open.
enum SimulatedFile {
  static func copy(_ source: String, to target: String) throws {
    for addition in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: target + addition) }
    try? FileManager.default.removeItem(atPath: target)
    try FileManager.default.copyItem(atPath: source, toPath: target)
  }
}
