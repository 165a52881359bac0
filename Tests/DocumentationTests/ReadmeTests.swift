import Foundation
import Testing
import UserStore

/// Compiles and runs the README's examples, and compares what the first one prints.
struct ReadmeTests {
  @Test
  func `the example prints what the README says`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = printed.taken()
    try example(path: folder.appendingPathComponent("users.db").path)
    #expect(
      printed.taken() == [
        "first screen: NIX", "first screen, entered again: NIX", "first screen, entered again: Zoë",
        "audit: 1 null → integer(36)",
      ])
  }

  @Test
  func `every line of the README's examples is compiled here`() throws {
    let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let example = try #require(readme.components(separatedBy: "```swift\nimport UserStore\n").dropFirst().first)
    let lines = example.components(separatedBy: "```")[0].split(separator: "\n").filter { !$0.hasPrefix("let path") }
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

  @Test
  func `a list stays current`() throws {
    let output = Printed()
    let print = output.print
    let store = try UserStore.inMemory()
    let nix = try store.write { try $0.add(name: "NIX") }

    let adults = UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50)
    let users = try store.read { try $0.users(matching: adults) }

    let list = try store.list(adults)
    list.bindAndFire("ListScreen") { rows in print("adults:", try rows.map { try $0.name }) }

    try store.write { try $0.set(.age, of: nix, to: 36) }
    #expect(users == [] && output.taken() == ["adults: []", "adults: [\"NIX\"]"])
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

private let printed = Printed()

private func print(_ parts: Any...) {
  printed.append(parts)
}

extension Attribute where Value == Int {
  static var age: Attribute { Attribute("age") }
  fileprivate static var setsSeen: Attribute { Attribute("setsSeen") }
}

/// The feed of the README, which is only compiled here; `ChangeFeedTests` runs similar code.
private func consume(_ store: UserStore, saved: String?, save: (String) -> Void) async throws {
  var cursor = try await store.read { try $0.cursor }
  if let saved { cursor = try UserStore.Cursor(saved) }  // the last text that was saved
  for try await set in store.changes(after: cursor) {
    try await set.forEach { change in print(change.user, change.attribute, change.old, "→", change.new) }
    cursor = set.cursor
    save(cursor.description)
  }
}

/// The consumer of the README, which is only compiled here; `ExactlyOnceTests` runs similar code.
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

private func example(path: String) throws {
  let store = try UserStore(path: path)
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
