import Foundation
import Testing
import UserStore

/// Runs the examples of the article “The change feed”.
@Suite(.timeLimit(.minutes(5))) struct TheChangeFeedArticle {
  @Test func `a feed starts at the cursor of a snapshot`() async throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "NIX") }
    var saved = ""
    let writer = Task {
      while printed.isEmpty {
        try await store.write { try $0.rename(user, to: "\(UInt64.random(in: .min ... .max))") }
      }
    }

    let cursor = try await store.read { try $0.cursor }
    for try await set in store.changeSets(after: cursor) {
      for change in try set.changes { print(change.user, change.attribute, change.old, "→", change.new) }
      saved = set.cursor.description
      break
    }

    try await writer.value
    #expect(try UserStore.Cursor(saved).revision > cursor.revision)
    #expect(printed.taken().first?.hasPrefix("1 name text(") == true)
  }

  @Test func `a cursor in a file is after the last set that was applied`() async throws {
    let printed = Printed()
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "NIX") }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let first = Task { try await follow(store, cursorIn: file) { _ in } }
    while !FileManager.default.fileExists(atPath: file.path) { await Task.yield() }
    first.cancel()
    try await first.value
    struct Killed: Error {}
    for name in ["one", "two"] {
      try await store.write { try $0.rename(user, to: name) }
      // Before the cursor is saved, so that the next start receives the set again.
      await #expect(throws: Killed.self) {
        try await follow(store, cursorIn: file) { change in
          printed.print(change.old, "→", change.new)
          throw Killed()
        }
      }
      let end = try await store.read { try $0.cursor.description }
      let following = Task { try await follow(store, cursorIn: file) { printed.print($0.old, "→", $0.new) } }
      while try String(contentsOf: file, encoding: .utf8) != end { await Task.yield() }
      following.cancel()
      try await following.value
      let lines = printed.taken()
      #expect(lines.count == 2 && lines[0] == lines[1] && lines[0].hasSuffix("→ text(\"\(name)\")"))
    }
  }

  @Test func `a feed of a topic tells how far it has read`() async throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "NIX") }
    let cursor = try await store.read { try $0.cursor }
    var saved = ""
    try await store.write { try $0.rename(user, to: "Zoë") }
    try await store.write { try $0.set(.hairColor, of: user, to: UserStore.Color("auburn")) }

    try await store.verify(cursor)  // refuses a bad cursor before you answer a request
    for try await set in store.changeSets(after: cursor, of: [.attribute(.name)], heartbeat: .seconds(15)) {
      for change in try set.changes { print(change.new) }
      saved = set.cursor.description
      if set.heartbeat == .upToDate { break }
    }

    #expect(printed.taken() == [#"text("Zoë")"#])
    let end = try await store.read { try $0.cursor }
    #expect(saved == end.description)
  }

  @Test func `a consumer counts each change exactly once, however often it is stopped`() async throws {
    let store = try UserStore.inMemory()
    let counter = try await store.write { try $0.add(name: "counter") }
    let user = try await store.write { try $0.add(name: "0") }
    for number in 1...5 { try await store.write { try $0.rename(user, to: "\(number)") } }
    for expected in [2, 5] {
      let counting = Task { try await countRenames(in: store, for: counter) }
      while try await count(store, counter) < expected { await Task.yield() }
      counting.cancel()
      _ = try? await counting.value
    }
    #expect(try await count(store, counter) == 5)
  }

  @Test func `a welcome mailer does not repeat an import`() async throws {
    let store = try UserStore.inMemory()
    let email = Attribute<String>("email")
    _ = try await store.consumer("welcome mailer")
    try await store.write { users in
      for number in 1...20 { try users.set(email, of: users.add(name: "\(number)"), to: "\(number)@example.com") }
    }
    struct Full: Error {}
    var sent: [String] = []
    await #expect(throws: Full.self) {
      try await welcome(in: store) { address in
        if sent.count == 12 { throw Full() }
        sent.append(address)
      }
    }
    struct Done: Error {}
    await #expect(throws: Done.self) {
      try await welcome(in: store) { address in
        sent.append(address)
        if sent.count == 20 { throw Done() }
      }
    }
    #expect(sent == (1...20).map { "\($0)@example.com" })
  }

  @Test func `a journal has each set once, whenever it is killed`() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: path) }
    try Data().write(to: path)
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "NIX") }
    func lines() throws -> [Substring] { try String(contentsOf: path, encoding: .utf8).split(separator: "\n") }
    for number in 1...3 {
      try await store.write { try $0.rename(user, to: "\(number)") }
      // The last acknowledgment has not reached the disk, and the next line has begun.
      let position = try await store.consumer("journal", from: .oldest)
      if number > 1 { try await position.reset(to: UserStore.Cursor(String(try lines()[0].prefix { $0 != " " }))) }
      let killed = try FileHandle(forUpdating: path)
      try killed.seekToEnd()
      try killed.write(contentsOf: Data("v1-".utf8))
      try killed.close()
      let file = try FileHandle(forUpdating: path)
      let keeping = Task { try await keepJournal(of: store, in: file) }
      // Read once: the beginning of a line may be cut off, and another line added, between two looks.
      func isWhole() throws -> Bool {
        let text = try String(contentsOf: path, encoding: .utf8)
        return text.utf8.last == UInt8(ascii: "\n") && text.split(separator: "\n").count == number + 1
      }
      while try !isWhole() { await Task.yield() }
      keeping.cancel()
      try await keeping.value
    }
    let sets = try await store.page(after: nil)
    let expected = try sets.map { "\($0.cursor) [\(try $0.changes.map(\.json).joined(separator: ","))]" }
    #expect(try lines().map(String.init) == expected)
  }

  @Test func `changes are printed as JSON, and encoded in a message`() async throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    let user = try await store.write { try $0.add(name: "NIX") }
    let cursor = try await store.read { try $0.cursor }
    try await store.write { try $0.rename(user, to: "Zoë") }

    for try await set in store.changeSets(after: cursor) {
      let changes = try set.changes
      for (index, change) in changes.enumerated() { print(change.json(in: set, isLast: index == changes.count - 1)) }
      break
    }

    let lines = printed.taken()
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""op":"update","user":1,"attribute":"name","old":"NIX","new":"Zoë","at":""#))
    let set = try #require(try await store.page(after: cursor).first)
    let message = try JSONDecoder().decode(Message.self, from: try encode(set))
    #expect(message.cursor == set.cursor && message.changes.map(\.json).allSatisfy { lines[0].hasSuffix($0.dropFirst()) })
  }

  private func count(_ store: UserStore, _ counter: UserStore.User.ID) async throws -> Int {
    try await store.read { try $0.value(Attribute<Int>("renames"), of: counter) } ?? 0
  }
}

func follow(
  _ store: UserStore, cursorIn file: URL, apply: (UserStore.Change) async throws -> Void
) async throws {
  func save(_ cursor: UserStore.Cursor) throws {
    try Data(cursor.description.utf8).write(to: file, options: .atomic)
  }

  if !FileManager.default.fileExists(atPath: file.path) {
    try save(try await store.read { try $0.cursor })  // the first start begins with the next change
  }
  let saved = try UserStore.Cursor(String(contentsOf: file, encoding: .utf8))
  for try await set in store.changeSets(after: saved) {
    try await set.forEach(apply)
    try save(set.cursor)
  }
}

struct Message: Codable {
  var cursor: UserStore.Cursor
  var changes: [UserStore.Change]
}

func encode(_ set: UserStore.ChangeSet) throws -> Data {
  try JSONEncoder().encode(Message(cursor: set.cursor, changes: set.changes))
}

func welcome(in store: UserStore, send: (_ address: String) async throws -> Void) async throws {
  let email = Attribute<String>("email")
  let mailer = try await store.consumer("welcome mailer", of: [.attribute(email)])
  for try await set in mailer {
    try await set.forEach { change in
      if change.old == .null, let address = try change.new(email) { try await send(address) }
      try await mailer.acknowledge(set, through: change)
    }
    try await mailer.acknowledge(set)
  }
}

func keepJournal(of store: UserStore, in file: FileHandle) async throws {
  let consumer = try await store.consumer("journal", from: .oldest)
  let text = try file.readToEnd() ?? Data()
  let end = text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
  try file.truncate(atOffset: UInt64(end))  // a kill can leave the beginning of a line
  if let last = text[..<end].split(separator: UInt8(ascii: "\n")).last {
    let cursor = String(decoding: last.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    try await consumer.reset(to: UserStore.Cursor(cursor))
  }
  for try await set in consumer {
    let changes = try set.changes.map(\.json).joined(separator: ",")
    try file.write(contentsOf: Data("\(set.cursor) [\(changes)]\n".utf8))
    try file.synchronize()
    try await consumer.acknowledge(set)
  }
}

func countRenames(in store: UserStore, for counter: UserStore.User.ID) async throws {
  let renames = Attribute<Int>("renames")
  let consumer = try await store.consumer("rename counter", from: .oldest)
  for try await set in consumer {
    let count = try set.changes.count { $0.attribute == "name" && $0.kind == .updated }
    try await store.write(origin: "rename counter") { users in
      let before = try users.value(renames, of: counter) ?? 0
      if count > 0 { try users.set(renames, of: counter, to: before + count) }
      try consumer.acknowledge(set, in: &users)
    }
  }
}
