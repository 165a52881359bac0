import Foundation
import Testing

@testable import UserStore

/// Files that the last version of each layout created (`Tests/Golden/make`), with a cursor that it saved.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct GoldenFileTests {
  let folder: Folder

  static let layouts = 5...7

  init() throws {
    folder = try Folder()
  }

  private static let golden = URL(filePath: #filePath).appending(path: "../../../../Golden").standardized

  /// Copies the file into the folder.
  ///
  /// - Returns: The cursor that was saved with the file.
  private func copyFile(_ layout: Int) throws -> Cursor {
    let file = Self.golden.appending(path: "layout\(layout)")
    try FileManager.default.copyItem(atPath: file.path + ".db", toPath: folder.database)
    #expect(try folder.shell("PRAGMA user_version") == "\(layout)\n")
    return try Cursor(String(contentsOfFile: file.path + ".cursor", encoding: .utf8))
  }

  private func found() throws -> [Finding] {
    try UserStore.check(path: folder.database).filter { $0.kind != .library && $0.kind != .permissions }
  }

  /// The changes that were written after the cursor.
  private static let later = [
    "updated 2 name 'Zoë' '佐江'", "updated 1 age '36' 37", "updated 1 note 'Grüße' ''",
    "updated 2 hair_color - '#000000'",
    "added 4 name - 'Été'", "added 4 hair_color - -",
  ]

  @Test(arguments: layouts)
  func `a file of an older layout keeps its records and its log`(_ layout: Int) throws {
    _ = try copyFile(layout)
    let before = try folder.rows()
    let consumers = try folder.shell("SELECT * FROM consumers")
    let store = try folder.open()
    #expect(try folder.rows() == before)
    #expect(try folder.shell("SELECT * FROM consumers") == consumers)
    #expect(try folder.shell("PRAGMA user_version") == "\(Migration.latest)\n")
    let users = try store.read { try $0.users() }
    #expect(try users.map { try $0.name } == ["NIX", "佐江", "Été"])
    #expect(users.map { $0.storedValues["hair_color"] } == [.text("#a52a2a"), .text("#000000"), nil])
    let expected: [AttributeName: StoredValue] = [
      "name": .text("NIX"), "hair_color": .text("#a52a2a"), "age": .integer(37), "ratio": .real(0.5), "note": .text(""),
      "größe": .text("1.0"), "ключ": .text("1"), "photo": .blob([0x00, 0xFF]),
    ]
    #expect(users.first?.storedValues == expected)
    let unique = try store.read { try $0.uniqueAttributes }
    #expect(unique.map(\.attribute) == (layout < 7 ? [] : ["note"]) && unique.allSatisfy(\.ignoresCase))
    #expect(try found() == [])
  }

  @Test(arguments: layouts)
  func `a feed continues from a cursor of an older layout, through old and new changes`(_ layout: Int) async throws {
    let cursor = try copyFile(layout)
    let store = try folder.open()
    let past = try store.allChanges(after: cursor)
    #expect(past.flatMap(\.lines) == Self.later)
    let last = try #require(past.last)
    var feed = store.changeSets(after: last.cursor).makeAsyncIterator()
    try await store.write(origin: "now") { try $0.rename(User.ID(2), to: "Zoë") }
    let own = try #require(await feed.next())
    #expect(own.lines == ["updated 2 name '佐江' 'Zoë'"] && own.origin == "now")
    // The triggers of the migration log these changes.
    try folder.shell(
      "UPDATE users SET name = 'x', hair_color = '#ffffff' WHERE id = 4; REPLACE INTO users (id, name) VALUES (1, 'new')"
    )
    let shell = try #require(await feed.next()).lines
    let both = if shell.count > 2 { shell } else { shell + (try #require(await feed.next()).lines) }
    #expect(
      both.prefix(3) == ["updated 4 name 'Été' 'x'", "updated 4 hair_color - '#ffffff'", "removed 1 name 'NIX' -"])
    #expect(both.last == "added 1 hair_color - -" && both.count == 12)
    #expect(try found() == [])
  }

  @Test func `a named consumer continues where it was in the older layout`() async throws {
    _ = try copyFile(5)
    let store = try folder.open()
    let counter = try await store.consumer("counter", from: .now)
    _ = try await store.write { try $0.rename(User.ID(2), to: "Zoë") }
    #expect(try await counter.next(1).flatMap(\.lines) == ["updated 2 name '佐江' 'Zoë'"])
  }
}
