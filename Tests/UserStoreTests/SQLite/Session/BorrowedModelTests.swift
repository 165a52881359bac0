import TestSupport
import Testing

@testable import UserStore

/// Random transactions of another library, with savepoints and rollbacks, in which typed operations and SQL take turns.
@Suite(.bounded, .serialized, .sqlite, .timeLimit(.minutes(5))) struct BorrowedModelTests {
  @Test(arguments: 0..<UInt64(Repetitions.count))
  func `the log has what was committed, in sets as promised`(run: UInt64) throws {
    let seed = Seed.base &+ run
    var model = try BorrowedModel(seed: seed)
    for _ in 0..<120 { try model.step() }
    try model.finish()
    let (expected, found) = (model.sets, try model.store.allChanges(after: model.start))
    #expect(
      found.map { "\($0.origin ?? "-") \((try? $0.entryLines) ?? [])" } == expected.map(\.line),
      "USERSTORE_SEED=\(seed)")
    #expect(found.map(\.isForeign) == expected.map { $0.origin == nil }, "USERSTORE_SEED=\(seed)")
    #expect(try model.store.user(model.user)?.name == model.name, "USERSTORE_SEED=\(seed)")
    #expect(try model.store.check().filter { $0.severity == .problem } == [], "USERSTORE_SEED=\(seed)")
    let orders = try model.other.value("SELECT count(*) FROM orders")
    #expect(orders == .integer(Int64(model.orders)), "USERSTORE_SEED=\(seed)")
    model.received.wait(until: { [lines = expected.flatMap(\.entries)] in $0.flatMap(\.self) == lines })
  }
}

/// What a connection has done, and what the log must have then.
private struct BorrowedModel {
  struct Entry {
    let text: String
    /// The origin of the call that wrote it; nil for SQL.
    let origin: String?
  }

  struct Set {
    let origin: String?
    var entries: [String]
    var line: String { "\(origin ?? "-") \(entries)" }
  }

  let folder: Folder
  let store: UserStore
  let other: PlainConnection
  let user: User.ID
  let start: Cursor
  let received = Recorder<[String]>()
  private var random: SplitMix64
  private var number = 0
  /// The committed state.
  private(set) var sets: [Set] = []
  private(set) var name = "start"
  private(set) var orders = 0
  /// The entries and the orders of the open transaction, at each savepoint and now; empty outside of a transaction.
  private var levels: [(entries: [Entry], orders: Int)] = []

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    folder = try Folder()
    let store = try folder.open()
    self.store = store
    user = try store.write { try $0.add(name: "start") }
    start = try store.read { try $0.cursor }
    other = try PlainConnection(folder.database, busyTimeout: 60_000)
    try other.script("CREATE TABLE orders (user INTEGER REFERENCES users (id) ON DELETE CASCADE)")
    store.listeners.bind("all", to: .everything) { [received] in received.record(try $0.entryLines) }
  }

  mutating func step() throws {
    guard !levels.isEmpty else { return try begin() }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: try end(commits: true)
    case 1: try end(commits: random.oneIn(3))
    case 2:
      levels.append(levels[levels.count - 1])
      try other.script("SAVEPOINT s\(levels.count)")
    case 3 where levels.count > 1:
      try other.script("RELEASE s\(levels.count)")
      levels.remove(at: levels.count - 2)
    case 4 where levels.count > 1:
      try other.script("ROLLBACK TO s\(levels.count); RELEASE s\(levels.count)")
      levels.removeLast()
    case 5, 6: try write(nil)
    case 7:
      try other.script("INSERT INTO orders VALUES (1)")
      levels[levels.count - 1].orders += 1
    case 8: try fail()
    case 9: _ = try other.reading(store) { try $0.user(user) }
    default: try write("call \(number)")
    }
  }

  mutating func finish() throws {
    if !levels.isEmpty { try end(commits: true) }
    store.lookForCommits()
  }

  private mutating func begin() throws {
    if random.oneIn(3) {
      number += 1
      let text = "w\(number)"
      try store.write(origin: "store") { try $0.rename(user, to: text) }
      append([Entry(text: text, origin: "store")])
      return
    }
    try other.script(random.choose("BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT outermost"))
    levels = [([], orders)]
  }

  private mutating func end(commits: Bool) throws {
    // Also ends a transaction that a savepoint has begun.
    try other.script(commits ? "COMMIT" : "ROLLBACK")
    if commits {
      orders = levels[levels.count - 1].orders
      append(levels[levels.count - 1].entries)
      if random.oneIn(2) { store.lookForCommits() }
    }
    levels = []
  }

  /// Writes with typed operations, or with SQL.
  private mutating func write(_ origin: String?) throws {
    number += 1
    let (text, posts) = ("n\(number)", random.oneIn(3))
    var entries = [Entry(text: text, origin: origin)]
    if let origin {
      try other.writing(to: store, origin: origin) { users in
        try users.rename(user, to: text)
        if posts { try users.post("posted", about: user) }
      }
      if posts { entries.append(Entry(text: "posted", origin: origin)) }
    } else {
      try other.run("UPDATE users SET name = ? WHERE id = ?", [.text(Array(text.utf8)), .integer(user.rawValue)])
    }
    levels[levels.count - 1].entries += entries
  }

  private mutating func fail() throws {
    struct Failure: Error {}
    do {
      try other.writing(to: store, origin: "failed") { users in
        try users.rename(user, to: "failed")
        throw Failure()
      }
    } catch is Failure {}
  }

  /// Adds the sets of a committed transaction: what SQL wrote after the last call joins what other programs write next.
  private mutating func append(_ entries: [Entry]) {
    if let last = entries.last(where: { $0.text.first != "p" }) { name = last.text }
    let ended = entries.lastIndex { $0.origin != nil }.map { $0 + 1 } ?? 0
    if ended > 0 {
      sets.append(Set(origin: entries[ended - 1].origin, entries: entries[..<ended].map(\.text)))
    }
    let rest = entries[ended...].map(\.text)
    if rest.isEmpty { return }
    if sets.last.map({ $0.origin == nil }) ?? false {
      sets[sets.count - 1].entries += rest
    } else {
      sets.append(Set(origin: nil, entries: rest))
    }
  }
}
