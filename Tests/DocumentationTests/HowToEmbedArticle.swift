import Foundation
import Testing
import UserStore

/// Runs the examples of the article “How to embed”.
@Suite(.timeLimit(.minutes(5))) struct HowToEmbedArticle {
  @Test @MainActor func `a screen shows the name of a user, and ends its listener`() async throws {
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "NIX") }
    var screen: NameScreen? = NameScreen()
    try await screen?.appear(user, in: store)
    #expect(screen?.title == "NIX")

    try await store.write { try $0.rename(user, to: "Zoë") }
    while screen?.title != "Zoë" { await Task.yield() }
    screen = nil
    #expect(store.listeners.count == 0)
  }

  @Test @MainActor func `a search shows the list of the last text, and ends those before`() async throws {
    let store = try UserStore.inMemory()
    try await store.write { users in for name in ["Ann", "Zoe", "Zoë"] { _ = try users.add(name: name) } }
    let (source, text) = Signal<String>.make()
    let screen = SearchScreen(text, in: store)
    for typed in ["A", "Z", "Zoë"] { source.send(typed) }
    while screen.rows.map({ try? $0.name }) != ["Zoë"] { await Task.yield() }

    try await store.write { try $0.add(name: "Zoë Q.") }
    while screen.rows.count != 2 { await Task.yield() }
    #expect(screen.rows.map { try? $0.name } == ["Zoë", "Zoë Q."])
  }

  @Test func `a client receives names and heartbeats, and continues after the last id`() async throws {
    let store = try UserStore.inMemory()
    let cursor = try await store.read { try $0.cursor }
    let user = try await store.write { try $0.add(name: "NIX") }
    // Hidden from the client, whose heartbeat is after it.
    try await store.write { try $0.set(.hairColor, of: user, to: UserStore.Color("white")) }
    let end = try await store.read { try $0.cursor }

    // The change of the name, and a heartbeat after the hidden change.
    let first = try await received(from: store, after: cursor.description, count: 2)
    #expect(first[0].contains("\ndata: {\"op\":\"insert\",\"user\":1,\"attribute\":\"name\""))
    #expect(first[1] == "id: \(end)\n\n")
    try await store.write { try $0.rename(user, to: "Zoë") }
    let second = try await received(from: store, after: end.description, count: 1)
    #expect(second[0].contains("\"old\":\"NIX\",\"new\":\"Zoë\""))
  }

  @Test func `a client's bad cursor is refused before the response begins`() async throws {
    let store = try UserStore.inMemory()
    let other = try await UserStore.inMemory().read { try $0.cursor }
    for (id, code) in [("7", StoreError.Code.badCursor), (other.description, .diverged)] {
      await #expect {
        try await sendNames(from: store, after: id) { _ in Issue.record("the response has begun") }
      } throws: {
        code ~= $0
      }
    }
  }

  /// Returns the first events that a client receives, before it disconnects.
  private func received(from store: UserStore, after id: String, count: Int) async throws -> [String] {
    struct Disconnected: Error {}
    var events: [String] = []
    await #expect(throws: Disconnected.self) {
      try await sendNames(from: store, after: id) { event in
        events.append(event)
        if events.count == count { throw Disconnected() }
      }
    }
    return events
  }

  @Test func `a mirror that is stopped before any acknowledgment applies each set once`() async throws {
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "0") }
    let copy = Copy()
    for number in 1...3 {
      // Stopped after the transaction of the copy, before the acknowledgment.
      await copy.stop(at: "\(number)")
      let mirroring = Task { try await mirror(store, to: copy) }
      while try await copy.cursor == nil { await Task.yield() }
      try await store.write { try $0.rename(user, to: "\(number)") }
      await #expect(throws: Copy.Stopped.self) { try await mirroring.value }
      #expect(await copy.names == [user: "\(number)"])
    }
    // The copy that was made first, and one set for each rename.
    #expect(await copy.transactions == 4)
  }

  @Test func `a rename is audited`() throws {
    let store = try UserStore.inMemory()
    let user = try store.write { try $0.add(name: "NIX") }
    let audit = Audit(of: store)
    try store.write { try $0.rename(user, to: "Zoë") }
    #expect(audit.lines == ["NIX → Zoë"])
  }

  @Test func `a text settles on a clock of the test`() async {
    let printed = Printed()
    let (source, text) = Signal<String>.make()
    let token = settled(text, clock: ImmediateClock()).subscribe { printed.print($0) }
    for value in ["Z", "Zo", "Zoë"] { source.send(value) }
    while printed.taken().last != "Zoë" { await Task.yield() }
    token.dispose()
  }

  @Test func `an async function calls the synchronous read through a function that is not async`() async throws {
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "NIX") }
    #expect(try nameNow(of: user, in: store) == "NIX")
    for await name in try await store.listenable(.name, of: user).values {
      #expect(name == "NIX")
      break
    }
  }

  #if os(Linux)
    @Test func `an open store holds only shared locks, and a closed one none`() throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      // The thread that watches the file reads after each commit, at any time.
      var configuration = UserStore.Configuration()
      configuration.watchesOtherProcesses = false
      let store = try UserStore(path: folder + "/users.db", configuration: configuration)
      try store.write { users in
        _ = try users.add(name: "NIX")
        #expect(try locks(in: folder).contains("WRITE"))
      }
      #expect(try store.read { try $0.count() } == 1)

      // One on the database file, and one on the -shm file.
      #expect(try locks(in: folder) == ["READ", "READ"])
      store.close()
      #expect(try locks(in: folder) == [])
    }

    /// Returns the kinds of the locks that this process holds on files in a folder.
    ///
    /// The kernel lists them for each descriptor. It may leave some out of `/proc/locks` while other locks come and go.
    private func locks(in folder: String) throws -> [String] {
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        // Other tests close theirs meanwhile.
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        return path?.hasPrefix(folder + "/") ?? false
      }
      return try descriptors.flatMap { descriptor in
        // lock:	1: POSIX  ADVISORY  READ 13593 fe:00:16237638 128 128
        try String(contentsOfFile: "/proc/self/fdinfo/" + descriptor, encoding: .utf8).split(separator: "\n")
          .filter { $0.hasPrefix("lock:") }.map { String($0.split(separator: " ")[3]) }
      }
    }
  #endif
}

@MainActor final class NameScreen {
  var title = ""

  func appear(_ user: UserStore.User.ID, in store: UserStore) async throws {
    let name = try await store.listenable(.name, of: user)
    name.bindAndFire("NameScreen", on: .latestOnMain, owner: self) { screen, name in screen.title = name ?? "gone" }
  }
}

@MainActor final class SearchScreen {
  private(set) var rows = UserStore.Rows()
  private var token: SubscriptionToken?

  init(_ text: Signal<String>, in store: UserStore) {
    token = text.flatMapLatest { text in
      try await store.list(
        UserStore.Query(
          where: Attribute.name.hasPrefix(text), sortedBy: [.ascending(.name)], limit: 50, showing: [.name]))
    }
    .flatMapLatest { list in list.signal }
    .subscribe(on: .latestOnMain) { [weak self] rows in self?.rows = rows }
  }
}

func sendNames(
  from store: UserStore, after lastEventID: String?, to client: (String) async throws -> Void
) async throws {
  var cursor = try await store.read { try $0.cursor }
  if let lastEventID { cursor = try UserStore.Cursor(lastEventID) }
  try await store.verify(cursor)  // before the response begins
  for try await set in store.changeSets(after: cursor, of: [.attribute(.name)], heartbeat: .seconds(15)) {
    var event = "id: \(set.cursor)\n"
    try await set.forEach { change in event += "data: \(change.json)\n" }
    try await client(event + "\n")
  }
}

/// Another database, whose transactions are atomic.
actor Copy {
  struct Stopped: Error {}

  private var saved: String?
  private(set) var names: [UserStore.User.ID: String] = [:]
  private(set) var transactions = 0
  private var last = ""

  var cursor: String? { get throws { saved } }

  func stop(at name: String) { last = name }

  func replaceAll(with users: [UserStore.User], cursor: String) throws {
    names = try Dictionary(uniqueKeysWithValues: users.map { ($0.id, try $0.name) })
    (saved, transactions) = (cursor, transactions + 1)
  }

  func apply(_ changes: [UserStore.Change], cursor: String) throws {
    for change in changes where change.attribute == .name { names[change.user] = try change.new(.name) }
    (saved, transactions) = (cursor, transactions + 1)
    if names.values.contains(last) { throw Stopped() }
  }
}

func mirror(_ store: UserStore, to copy: Copy) async throws {
  let consumer = try await store.consumer("mirror")
  if let saved = try await copy.cursor {
    try await consumer.reset(to: UserStore.Cursor(saved))
  } else {
    let (users, cursor) = try await store.read { (try $0.users(), try $0.cursor) }
    try await copy.replaceAll(with: users, cursor: cursor.description)
    try await consumer.reset(to: cursor)
  }
  for try await set in consumer {
    var changes: [UserStore.Change] = []
    try await set.forEach { changes.append($0) }
    try await copy.apply(changes, cursor: set.cursor.description)
    try await consumer.acknowledge(set)
  }
}

private final class Audit: Sendable {
  private let printed = Printed()
  var lines: [String] { printed.taken() }

  init(of store: UserStore) {
    store.listeners.bind("audit", to: .attribute(.name)) { [printed] set in
      for change in try set.changes { printed.print(try change.old(.name) ?? "", "→", try change.new(.name) ?? "") }
    }
  }
}

func settled(_ text: Signal<String>, clock: some Clock<Duration> = ContinuousClock()) -> Signal<String> {
  text.debounce(for: .milliseconds(300), clock: clock)
}

func lines() -> AsyncStream<String> {
  AsyncStream { lines in
    Thread.detachNewThread {
      while let line = readLine() { lines.yield(line) }
      lines.finish()
    }
  }
}

func nameNow(of user: UserStore.User.ID, in store: UserStore) throws -> String? {
  try store.read { try $0.user(user)?.name }
}
