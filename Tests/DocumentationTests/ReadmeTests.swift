import Foundation
import Testing
import UserStore

/// Compiles and runs the README's examples, in a file and, within `scripts/postgres run`, on a server.
struct ReadmeTests {
  @Test(arguments: Place.present)
  func `the example prints what the README says`(place: Place) async throws {
    let output = Printed()
    try await place.withStore { store in try example(store, output.print) }
    #expect(
      output.taken() == [
        "first screen: NIX", "first screen, entered again: NIX", "first screen, entered again: Zoë",
        "audit: 1 null → integer(36)",
      ])
  }

  @Test
  func `every line of the README's examples is compiled here`() throws {
    let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let example = try #require(readme.components(separatedBy: "```swift\nimport UserStore\n").dropFirst().first)
    let lines = example.components(separatedBy: "```")[0].split(separator: "\n")
      .filter { !$0.hasPrefix("let path") && !$0.hasPrefix("let store") }
    let server = try #require(readme.components(separatedBy: "```swift\nimport UserStorePostgres\n").dropFirst().first)
    #expect(server.hasPrefix("\nlet store = try UserStore(postgres: PostgresConfiguration(\"postgres://"))
    #expect(lines.count > 10)
    let feed = try #require(readme.components(separatedBy: "```swift\nvar cursor").dropFirst().first)
    let feedLines = ("var cursor" + feed.components(separatedBy: "```")[0]).split(separator: "\n")
    #expect(feedLines.count > 5)
    let consumer = try #require(readme.components(separatedBy: "```swift\nlet counter").dropFirst().first)
    let consumerLines = ("let counter" + consumer.components(separatedBy: "```")[0]).split(separator: "\n")
    #expect(consumerLines.count > 5)
    let list = try #require(readme.components(separatedBy: "```swift\nlet adults").dropFirst().first)
    let listLines = ("let adults" + list.components(separatedBy: "```")[0]).split(separator: "\n")
    #expect(listLines.count > 3)
    for line in lines + feedLines + consumerLines + listLines {
      #expect(source.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
    }
  }

  @Test(arguments: Place.present)
  func `a list stays current`(place: Place) async throws {
    let output = Printed()
    try await place.withStore { store in try follow(store, output.print) }
    #expect(output.taken() == ["found: []", "adults: []", "adults: [\"NIX\"]"])
  }

  @Test(arguments: Place.present)
  func `the feed continues after the cursor that was saved`(place: Place) async throws {
    try await place.withStore { store in
      let nix = try await store.write { try $0.add(name: "NIX") }
      var saved = try await store.read { try $0.cursor.description }
      for (old, new) in [("NIX", "one"), ("one", "two")] {
        try await store.write { try $0.rename(nix, to: new) }
        let output = Printed()
        let (cursors, continuation) = AsyncStream.makeStream(of: String.self)
        let (start, print) = (saved, output.print)
        let example = Task { try await consume(store, saved: start, print) { continuation.yield($0) } }
        saved = try #require(await cursors.first { _ in true })
        example.cancel()
        _ = await example.result
        #expect(output.taken() == ["1 name text(\"\(old)\") → text(\"\(new)\")"])
      }
    }
  }

  @Test(arguments: Place.present)
  func `the consumer counts each change set once`(place: Place) async throws {
    try await place.withStore { store in
      let nix = try await store.write { try $0.add(name: "NIX") }
      let seen = store.changes(after: try await store.read { try $0.cursor })
      for name in ["one", "two"] { try await store.write { try $0.rename(nix, to: name) } }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await count(store, for: nix) }
        for try await set in seen where try set.changes.last?.new == .integer(3) { break }
        group.cancelAll()
      }
      #expect(try await store.read { try $0.value(.setsSeen, of: nix) } == 3)
    }
  }

  @Test
  func `the README's lottery is the tested one`() throws {
    let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let lottery = Self.root.appendingPathComponent("Tests/UserStoreTests/Listening/Binding/LotteryTests.swift")
    let source = try String(contentsOf: lottery, encoding: .utf8)
    let example = try #require(readme.components(separatedBy: "```swift\nlet serials").dropFirst().first)
    let lines = ("let serials" + example.components(separatedBy: "```")[0]).split(separator: "\n")
    #expect(lines.count > 10)
    for line in lines { #expect(source.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)") }
  }

  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}

extension Attribute where Value == Int {
  static var age: Attribute { Attribute("age") }
  fileprivate static var setsSeen: Attribute { Attribute("setsSeen") }
}

/// The list of the README.
private func follow(_ store: UserStore, _ print: @escaping @Sendable (Any...) -> Void) throws {
  let nix = try store.write { try $0.add(name: "NIX") }

  let adults = UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50)
  let users = try store.read { try $0.users(matching: adults) }

  let list = try store.list(adults)
  print("found:", users)
  list.bindAndFire("ListScreen") { rows in print("adults:", try rows.map { try $0.name }) }

  try store.write { try $0.set(.age, of: nix, to: 36) }
}

/// The feed of the README.
private func consume(
  _ store: UserStore, saved: String?, _ print: (Any...) -> Void, save: (String) -> Void
) async throws {
  var cursor = try await store.read { try $0.cursor }
  if let saved { cursor = try UserStore.Cursor(saved) }  // the last text that was saved
  for try await set in store.changes(after: cursor) {
    try await set.forEach { change in print(change.user, change.attribute, change.old, "→", change.new) }
    cursor = set.cursor
    save(cursor.description)
  }
}

/// The consumer of the README.
private func count(_ store: UserStore, for nix: UserStore.User.ID) async throws {
  let counter = try await store.consumer("counter", from: .oldest)
  for try await set in counter where set.origin != "counter" {
    try await store.write(origin: "counter") { users in
      try users.set(.setsSeen, of: nix, to: (try users.value(.setsSeen, of: nix) ?? 0) + 1)
      try counter.acknowledge(set, in: &users)
    }
    // or, without effects in the store: try await counter.acknowledge(set)
  }
}

/// The first example of the README.
private func example(_ store: UserStore, _ print: @escaping @Sendable (Any...) -> Void) throws {
  let nix = try store.write { try $0.add(name: "NIX", hairColor: UserStore.Color("auburn")) }

  // Entering a screen twice: the same name, one listener.
  let name = try store.listenable(.name, of: nix)
  name.bindAndFire("FirstScreen") { print("first screen:", $0 ?? "gone") }
  name.bindAndFire("FirstScreen") { print("first screen, entered again:", $0 ?? "gone") }

  store.listeners.bind("audit", to: .attribute(.age)) { set in
    for change in try set.changes { print("audit:", change.user, change.old, "→", change.new) }
  }

  // One write: both changes are committed and delivered together.
  try store.write { users in
    try users.rename(nix, to: "Zoë")
    try users.set(.age, of: nix, to: 36)
  }
}
