import Foundation
import Testing
import UserStore
import UserStorePostgres

/// The README is short, in a fixed order, and its examples run: in a file and, within `scripts/postgres run`, on a server.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
  private let readme: Document

  init() throws { readme = try Document("README.md") }

  @Test func `it has at most 200 lines, and a whole program at the top`() throws {
    #expect(readme.lines.count <= 201)  // the last line ends with a line break
    let program = try #require(readme.blocks("swift").first)
    #expect(program.line <= 30 && program.lines.count <= 25)
    #expect(program.lines.first == "import UserStore")
  }

  @Test func `its parts come in the order in which a stranger asks`() {
    #expect(
      readme.headings == [
        "UserStore", "Try it", "Why this, and when not", "How to depend on it", "A tour", "The tool", "The server",
        "PostgreSQL", "Guarantees", "Speed", "What may change before 1.0", "Not tested", "Where everything else is",
      ])
  }

  @Test func `it shows the two commands and the installation`() {
    for script in ["demo", "test", "install"] { #expect(readme.text.contains("\n    scripts/\(script) ")) }
  }

  @Test func `every example is compiled here, line by line`() throws {
    let source = trimmed(try String(contentsOfFile: #filePath, encoding: .utf8).split(separator: "\n"))
    var examples = readme.blocks("swift")
    examples.removeAll { $0.lines.contains("import PackageDescription") }
    #expect(examples.count == 8)
    for example in examples {
      // A program imports the library, and opens a store with a path of its own.
      let lines = example.lines.filter { !$0.hasPrefix("import ") && !$0.hasPrefix("let store = try UserStore(path:") }
      #expect(source.contains(trimmed(lines)), "\(example.line): \(trimmed(lines))")
    }
  }

  @Test func `the products to depend on exist`() throws {
    let manifest = try String(contentsOf: Document.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let names = Set(readme.text.matches(of: /UserStore(Foundation|Text|Postgres)?(?=[`"])/).map(\.0))
    #expect(names.count == 4)
    for name in names { #expect(manifest.contains(".library(name: \"\(name)\"")) }
  }

  @Test(arguments: Place.present)
  func `the program prints what the README says`(place: Place) async throws {
    let sentence = try #require(readme.lines.first { $0.hasPrefix("It prints ") })
    let output = Printed()
    try await place.withStore { store in try program(store, output.print) }
    #expect(output.taken() == sentence.matches(of: /`([^`]+)`/).map { String($0.1) })
  }

  @Test(arguments: Place.present)
  func `what is written is read`(place: Place) async throws {
    try await place.withStore { store in
      let output = Printed()
      let ages = try await writeAndRead(store, output.print)
      #expect(ages == [36])
      #expect(output.taken() == ["1 0 → 36"])
    }
  }

  @Test(arguments: Place.present) @MainActor
  func `a screen shows the latest name, and ends its listener`(place: Place) async throws {
    try await place.withStore { @MainActor store in
      let user = try await store.write { try $0.add(name: "NIX") }
      var screen: TitleScreen? = TitleScreen()
      screen?.appear(try await store.listenable(.name, of: user))
      #expect(screen?.title == "NIX")
      try await store.write { try $0.rename(user, to: "Zoë") }
      while screen?.title != "Zoë" { await Task.yield() }
      screen = nil
      #expect(store.listeners.count == 0)
    }
  }

  @Test(arguments: Place.present)
  func `a list says what differs`(place: Place) async throws {
    try await place.withStore { store in
      let (steps, continuation) = AsyncStream.makeStream(of: UserStore.RowChanges.Step.self)
      let example = Task { try await follow(store) { continuation.yield($0) } }
      let user = try await store.write { users in
        let user = try users.add(name: "NIX")
        try users.set(Attribute<Int>("age"), of: user, to: 36)
        return user
      }
      let first = await steps.first { _ in true }
      guard case .insert(let row, 0) = first else { throw StoreError(.unexpected, "\(String(describing: first))") }
      #expect(row.id == user)
      example.cancel()
      _ = await example.result
    }
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
        let (start, print) = (try UserStore.Cursor(saved), output.print)
        let example = Task { try await consume(store, after: start, print) { continuation.yield($0) } }
        saved = try #require(await cursors.first { _ in true })
        example.cancel()
        _ = await example.result
        #expect(output.taken() == ["1 name text(\"\(old)\") → text(\"\(new)\")"])
      }
    }
  }

  @Test(arguments: Place.present)
  func `the consumer counts each rename once, also those before it was started again`(place: Place) async throws {
    try await place.withStore { store in
      let nix = try await store.write { try $0.add(name: "NIX") }
      // A new name begins with the next change.
      _ = try await store.consumer("counter", of: [.attribute(.name)])
      let seen = store.changeSets(after: try await store.read { try $0.cursor })
      for name in ["one", "two", "three"] { try await store.write { try $0.rename(nix, to: name) } }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await count(store, for: nix) }
        for try await set in seen where try set.changes.last?.new == .integer(3) { break }
        group.cancelAll()
      }
      #expect(try await store.read { try $0.value(Attribute<Int>("seen"), of: nix) } == 3)
    }
  }

  @Test @MainActor func `a field and an attribute are bound both ways`() throws {
    let store = try UserStore.inMemory()
    let user = try store.write { try $0.add(name: "NIX") }
    let form = Form()
    bind(form, to: user, in: store)
    #expect(form.name == "NIX")
  }
}

/// The first example of the README.
private func program(_ store: UserStore, _ print: @escaping @Sendable (Any...) -> Void) throws {
  let age = Attribute<Int>("age")  // typed, and needs no migration
  let nix = try store.write { try $0.add(name: "NIX") }

  // Binding this name to this value again replaces the listener: entering a screen twice adds none.
  let name = try store.listenable(.name, of: nix)
  name.bindAndFire("NameScreen") { print("name:", $0 ?? "gone") }

  // A list stays current, without running its query again for each change.
  let adults = try store.list(UserStore.Query(where: age >= 18, sortedBy: [.ascending(.name)]))
  adults.bindAndFire("ListScreen") { rows in print("adults:", try rows.map { try $0.name }) }

  // Both changes are committed and delivered together. Writes of other programs are delivered, too.
  try store.write { users in
    try users.rename(nix, to: "Zoë")
    try users.set(age, of: nix, to: 36)
  }
  store.close()  // moves the newest commits from users.db-wal into users.db
}

private func writeAndRead(_ store: UserStore, _ print: @escaping @Sendable (Any...) -> Void) async throws -> [Int] {
  let age = Attribute<Int>("age")
  store.listeners.bind("ages", to: .attribute(age)) { set in
    for change in try set.changes { print(change.user, try change.old(age) ?? 0, "→", try change.new(age) ?? 0) }
  }
  let zoe = try await store.write { try $0.add(name: "Zoë", hairColor: UserStore.Color("auburn")) }
  try await store.write { try $0.set(age, of: zoe, to: 36) }
  let ages = try await store.read { users in try users.users().map { try $0[age] ?? 0 } }
  return ages
}

@MainActor private final class TitleScreen {
  var title = ""

  func appear(_ name: Listenable<String?>) {
    name.bindAndFire("NameScreen", on: .latestOnMain, owner: self) { screen, new in screen.title = new ?? "gone" }
  }
}

private func follow(_ store: UserStore, apply: (UserStore.RowChanges.Step) -> Void) async throws {
  let age = Attribute<Int>("age")
  var shown = UserStore.Rows()
  for await rows in try await store.list(UserStore.Query(where: age >= 18, limit: 50)).values {
    for step in rows.rowChanges(from: shown).steps { apply(step) }  // insert, remove, move, update
    shown = rows
  }
}

private func consume(
  _ store: UserStore, after cursor: UserStore.Cursor, _ print: (Any...) -> Void, save: (String) -> Void
) async throws {
  for try await set in store.changeSets(after: cursor) {
    try await set.forEach { change in print(change.user, change.attribute, change.old, "→", change.new) }
    save(set.cursor.description)  // the next start continues after try UserStore.Cursor(saved)
  }
}

private func count(_ store: UserStore, for zoe: UserStore.User.ID) async throws {
  let seen = Attribute<Int>("seen")
  let counter = try await store.consumer("counter", of: [.attribute(.name)])
  for try await set in counter {
    try await store.write { users in
      try users.set(seen, of: zoe, to: (try users.value(seen, of: zoe) ?? 0) + 1)
      try counter.acknowledge(set, in: &users)
    }
  }
}

@MainActor private final class Form {
  var name = ""
}

@MainActor private func bind(_ form: Form, to zoe: UserStore.User.ID, in store: UserStore) {
  let print = Printed().print
  BindingChain("name form") { error in print(error) }.bind(store, .name, of: zoe).bind(form, \.name)
}

/// The example of PostgreSQL; `Place` opens stores on a server.
private func storeOnServer() throws -> UserStore {
  let store = try UserStore(postgres: PostgresConfiguration("postgres://db.example.com/app"))
  return store
}
