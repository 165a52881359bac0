import Foundation
import TestSupport
import Testing

@testable import UserStore

/// One random run of everything that changes records, with lists that must follow.
struct ListRun {
  let folder: Folder
  let model = ListModel()
  private let store: UserStore
  private let plain: PlainConnection
  private var generator: ListQueries
  private let actor = Place()
  private var listCount = 0
  private var hasBackup = false
  /// The set of a write that can be undone.
  private var undoable: Revision?

  init(seed: UInt64) throws {
    generator = ListQueries(random: SplitMix64(seed: seed))
    folder = try Folder()
    let watches = generator.random.oneIn(2)
    store = try folder.open { [model] in
      $0.watchesOtherProcesses = watches
      // A long log makes backups, compactions, and undoing slow, and shows no more than a short one.
      $0.retention = RetentionPolicy(RetentionPolicy.Limits(changes: 60_000))
      $0.onListenerError = { name, error in model.fail("\(name ?? "a list"): \(error)") }
    }
    plain = try PlainConnection(folder.database, busyTimeout: 5_000)
    let usesKeys = generator.random.oneIn(2)
    store.liveQueries.configure(.init(usesKeys: usesKeys, reserve: generator.random.choose(1, 1, 2, 16)))
    try model.follow(store)
    try store.write { transaction in for _ in 0..<10 { try add(&transaction) } }
    try addLists()
  }

  /// One step; returns when everything was delivered.
  mutating func step() throws {
    switch generator.random.choose(0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5) {
    case 0: try write(count: generator.random.choose(1, 1, 1, 2, 5, 40))
    case 1: try writeForeign()
    case 2: try writeInGroup()
    case 3: try undo()
    case 4: try addLists()
    default: try doRare()
    }
    // Searching through many users takes long, and shows no more than searching through few.
    if model.userCount > 100 {
      try plain.run("DELETE FROM users WHERE id NOT IN (SELECT id FROM users ORDER BY random() LIMIT 30)")
    }
    // A write delivers what other programs committed before.
    try store.write { try $0.set("delivered", of: try Self.anyUser(&$0), to: .integer(Int64(model.rounds))) }
    try model.checkAll(store)
  }

  private mutating func doRare() throws {
    switch generator.random.choose(0, 0, 1, 1, 2, 2, 3, 4, 5) {
    case 0: try write(count: 1_500)
    case 1: _ = try store.compact(keeping: RetentionPolicy(RetentionPolicy.Limits(changes: 3)))
    case 2:
      if let user = model.removed.randomElement(using: &generator.random) { _ = try store.purge(user) }
    case 3:
      try store.backup(to: folder.path + "/backup.db", replacing: true, ignoringProblems: true)
      hasBackup = true
    case 4 where hasBackup: try store.restore(from: folder.path + "/backup.db", ignoringProblems: true)
    default: try write(count: generator.random.oneIn(5) ? 25_000 : 100)
    }
  }

  // MARK: Writing

  private static func anyUser<Mode>(_ transaction: inout Transaction<Mode>) throws -> User.ID {
    var first: User.ID?
    try transaction.iterateUsers { user in
      first = user.id
      return false
    }
    return try #require(first)
  }

  private mutating func write(count: Int) throws {
    var acts: [Act] = []
    for _ in 0..<count { acts.append(act()) }
    try store.write { try Act.perform(acts, in: &$0) }
    undoable = try store.read { try $0.cursor.revision }
  }

  private enum Act: Sendable {
    case add([(AttributeName, StoredValue)])
    case set(AttributeName, Int, StoredValue)
    case remove(Int)

    /// Performs acts on the first users, of whom few are removed at the same time.
    static func perform(_ acts: [Act], in transaction: inout WriteTransaction) throws {
      var ids: [User.ID] = []
      for (number, act) in acts.enumerated() {
        if number % 50 == 0 { ids = try transaction.ids(matching: Query(limit: 30)) }
        try act.perform(on: ids, &transaction)
      }
    }

    private func perform(on ids: [User.ID], _ transaction: inout WriteTransaction) throws {
      func user(at place: Int) throws -> User.ID? {
        let id = ids[min(place, ids.count - 1)]
        return try transaction.hasUser(id) ? id : nil
      }
      switch self {
      case .add(let values): try ListRun.add(values, &transaction)
      case .set(let attribute, let place, let value):
        if let id = try user(at: place) { try transaction.set(attribute, of: id, to: value) }
      case .remove(let place):
        if try transaction.count() > 5, let id = try user(at: place) { _ = try transaction.remove(id) }
      }
    }
  }

  private mutating func act() -> Act {
    let place = Int.random(in: 0..<30, using: &generator.random)
    switch generator.random.choose(0, 1, 2, 2, 2, 2, 2) {
    case 0: return .add(ListQueries.attributes.map { ($0, generator.value(of: $0)) })
    case 1: return .remove(generator.random.oneIn(2) ? 0 : place)
    default:
      let attribute = ListQueries.attributes[Int.random(in: 0..<5, using: &generator.random)]
      return .set(attribute, place, generator.value(of: attribute))
    }
  }

  private mutating func add(_ transaction: inout WriteTransaction) throws {
    try Self.add(ListQueries.attributes.map { ($0, generator.value(of: $0)) }, &transaction)
  }

  private static func add(_ values: [(AttributeName, StoredValue)], _ transaction: inout WriteTransaction) throws {
    var name = ""
    if case .text(let text) = values[0].1 { name = text }
    let user = try transaction.add(name: name)
    for (attribute, value) in values.dropFirst() where !value.isNull {
      try transaction.set(attribute, of: user, to: value)
    }
  }

  private mutating func writeForeign() throws {
    try plain.run("BEGIN IMMEDIATE")
    for _ in 0..<generator.random.choose(1, 2, 4) {
      let id = "(SELECT id FROM users LIMIT 1 OFFSET \(Int.random(in: 0..<12, using: &generator.random)))"
      let attribute = generator.random.choose("age", "city", "note")
      let value = generator.random.choose("18", "18.0", "'18'", "CAST(x'ff41' AS TEXT)", "'Ulm'", "x'55'", "1", "''")
      try plain.run(
        generator.random.choose(
          "INSERT OR REPLACE INTO attributes (user_id, name, value) SELECT \(id), '\(attribute)', \(value) WHERE \(id) NOT NULL",
          "UPDATE attributes SET value = \(value) WHERE user_id = \(id) AND name = '\(attribute)'",
          "DELETE FROM attributes WHERE user_id = \(id) AND name = '\(attribute)'",
          "UPDATE users SET name = CAST(x'5aff' AS TEXT) WHERE id = \(id)",
          "INSERT INTO users (name) VALUES ('Zoë')",
          "INSERT OR REPLACE INTO users (id, name, hair_color) SELECT \(id), 'Ann', '#000000' WHERE \(id) NOT NULL",
          "DELETE FROM users WHERE id = \(id) AND (SELECT count(*) FROM users) > 5",
          "UPDATE attributes SET value = \(value) WHERE name = '\(attribute)'"))
    }
    try plain.run(generator.random.oneIn(6) ? "ROLLBACK" : "COMMIT")
  }

  private mutating func writeInGroup() throws {
    var acts: [[Act]] = []
    for _ in 0..<4 { acts.append([act(), act(), act()]) }
    try Threads.run(4) { [store, acts] index in
      for act in acts[index] { try store.write { try Act.perform([act], in: &$0) } }
    }
  }

  private mutating func undo() throws {
    guard let revision = undoable else { return }
    undoable = nil
    // Not all can be undone after other writes.
    _ = try? store.write { try $0.undo(revision) }
  }

  // MARK: Lists

  /// Makes new lists, here or inside of a round, and releases the old ones now and then.
  private mutating func addLists() throws {
    if model.lists.count > 8 { model.removeLists() }
    for _ in 0..<3 {
      listCount += 1
      let (query, name, place) = (generator.query(), "list \(listCount)", generator.random.oneIn(5))
      let on: DeliveryPlace = place ? .latest(on: actor) : .inline
      if generator.random.oneIn(3) {
        let listeners = store.listeners
        let isAdded = Lock(false)
        listeners.bind("adding", to: .everything) { [model, weak store] _ in
          let wasAdded = isAdded.withLock { flag in
            defer { flag = true }
            return flag
          }
          guard let store, !wasAdded else { return }
          try model.add(query, to: store, named: name, on: on)
        }
        try store.write { try $0.set("adding", of: try Self.anyUser(&$0), to: .integer(Int64(listCount))) }
        listeners.unbind("adding", from: .everything)
      } else {
        try model.add(query, to: store, named: name, on: on)
      }
    }
    if generator.random.oneIn(2) { try model.addCount(generator.condition(depth: 2), to: store) }
  }
}
