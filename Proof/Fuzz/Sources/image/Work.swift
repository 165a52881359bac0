import Fuzzing
import UserStore

/// The work with an image: everything that the commands do, in bounded time.
struct Work {
  private let image: Image
  private let path = Files.scratch + "/image.db"

  init(_ image: Image) {
    self.image = image
  }

  func run() {
    Files.clear()
    do {
      try Files.write(image.database, to: path)
      if !image.wal.isEmpty { try Files.write(image.wal, to: path + "-wal") }
    } catch { Findings.report("\(error)") }
    attempt { try read() }
    // The last connection to close checkpoints a -wal file, even if it only read.
    let isWhole = image.wal.isEmpty
    expect(!isWhole || Files.read(path) == image.database, "reading changed the file")
    if does(0) { attempt { try check() } }
    expect(!isWhole || Files.read(path) == image.database, "checking changed the file")
    if does(1) { attempt { try restoreElsewhere() } }
    attempt { try write() }
    if does(2) { attempt { try check() } }
  }

  private func does(_ bit: Int) -> Bool { image.plan >> bit & 1 == 1 }

  /// Checks that errors are the store's own, with a code and a short message.
  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch let error as StoreError {
      expect(
        error.code != .unexpected, "\(error.code): \(error), because of \(error.cause.map { "\($0)" } ?? "nothing")")
      expect(error.message.utf8.count < 2_000, "a message of \(error.message.utf8.count) bytes")
    } catch { Findings.report("\(type(of: error)): \(error)") }
  }

  private func open(_ access: UserStore.Configuration.Access) throws -> UserStore {
    var configuration = UserStore.Configuration()
    configuration.access = access
    configuration.busyTimeout = .milliseconds(50)
    configuration.watchesOtherProcesses = false
    return try UserStore(path: path, configuration: configuration)
  }

  // MARK: Reading

  private func read() throws {
    let store = try open(.readOnly)
    defer { store.close() }
    attempt { try readRecords(store) }
    attempt { try readLog(store) }
  }

  private func readRecords(_ store: UserStore) throws {
    var contradictions: [String] = []
    try store.read { users in
      let all = try users.users()
      for user in all.prefix(100) {
        let same = try users.user(user.id)
        if same != user { contradictions.append("user \(user.id) is \(user) in the list") }
        for (name, value) in user.storedValues {
          let again = try users.storedValue(name, of: user.id)
          if again != value { contradictions.append("\(user): the \(name) is \(again)") }
        }
        if let name = try? user.name, try !users.ids(named: name).contains(user.id) {
          contradictions.append("\(user) has another name")
        }
      }
      let count = try users.count()
      if count != all.count { contradictions.append("there are \(all.count) users, but \(count) are counted") }
      _ = try users.attributeNames
      _ = try users.consumers()
      _ = try users.cursor
    }
    try excuse(contradictions, in: store)
  }

  /// Accepts contradictions only if the check finds a problem, in the image or in the store.
  ///
  /// SQLite trusts every page that it can read, so that answers may contradict each other if pages do.
  private func excuse(_ contradictions: [String], in store: UserStore) throws {
    guard let first = contradictions.first else { return }
    let copy = Files.scratch + "/untouched.db"
    try Files.write(image.database, to: copy)
    if !image.wal.isEmpty { try Files.write(image.wal, to: copy + "-wal") }
    let found = try UserStore.check(path: copy) + store.check()
    expect(found.contains { $0.severity == .problem }, "\(first), but the check finds \(found)")
  }

  private func readLog(_ store: UserStore) throws {
    var position: UserStore.Cursor?
    for _ in 0..<1_000 {
      let sets = try store.page(after: position)
      guard let last = sets.last else { return }
      for set in sets {
        expect(
          position.map { $0.revision < set.revision } ?? true,
          "\(set.revision) after \(position?.revision.rawValue ?? 0)")
        try set.forEach { _ in }
      }
      position = last.cursor
    }
  }

  private func check() throws {
    _ = try UserStore.check(path: path, busyTimeout: .milliseconds(50))
    _ = try open(.readOnly).compactionPreview(
      keeping: UserStore.RetentionPolicy(UserStore.RetentionPolicy.Limits(age: .seconds(60), changes: 2, bytes: 500)))
  }

  /// Restores the image as a backup into another store.
  private func restoreElsewhere() throws {
    let store = try UserStore.inMemory()
    defer { store.close() }
    try store.restore(from: path, ignoringProblems: true)
    attempt { try readRecords(store) }
    attempt { try readLog(store) }
    let problems = try store.check().filter { [.integrity, .schema, .trigger, .orphan].contains($0.kind) }
    expect(problems.isEmpty, "restored with problems: \(problems)")
  }

  // MARK: Writing

  private func write() throws {
    let store = try open(does(3) ? .createIfMissing : .readWrite)
    defer { store.close() }
    attempt { try edit(store) }
    if does(4) { attempt { try consume(store) } }
    if does(5) {
      attempt {
        _ = try store.compact(
          keeping: UserStore.RetentionPolicy(UserStore.RetentionPolicy.Limits(changes: 2), minimumChanges: 1))
      }
    }
    if does(6) { attempt { _ = try store.write { try $0.undo() } } }
    if does(7) { attempt { _ = try store.purge(UserStore.User.ID(3)) } }
    attempt { try readRecords(store) }
    attempt { try readLog(store) }
  }

  private func edit(_ store: UserStore) throws {
    var contradictions: [String] = []
    let id = try store.write { users in
      let id = try users.add(name: "added", hairColor: UserStore.Color("red"))
      try users.set("age", of: id, to: .integer(7))
      try users.rename(id, to: "renamed")
      if let first = try users.ids(named: "Nix").first { try users.remove(first) }
      let changes = try users.pendingChanges
      if changes.count < 4 { contradictions.append("\(changes)") }
      return id
    }
    let user = try store.read { try $0.user(id) }
    let expected: [AttributeName: StoredValue] = [
      "name": .text("renamed"), "hair_color": .text("#ff0000"), "age": .integer(7),
    ]
    if user?.storedValues != expected {
      contradictions.append("user \(id) was written, but is \(user?.storedValues ?? [:])")
    }
    try excuse(contradictions, in: store)
  }

  private func consume(_ store: UserStore) throws {
    let consumer = try store.consumer("sync", from: .oldest)
    let sets = try store.page(after: consumer.cursor())
    if let set = sets.first { try store.write { try consumer.acknowledge(set, in: &$0) } }
    _ = try store.removeConsumer("other")
  }
}
