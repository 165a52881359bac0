import Foundation
import Testing

@testable import UserStore

/// Databases in formats that SQLite supports and this library never creates.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ForeignFormatTests {
  /// Each argument is run on an empty file, which then becomes a store with an older version's method.
  @Test(arguments: [
    "PRAGMA page_size = 512", "PRAGMA page_size = 65536", "PRAGMA auto_vacuum = 1", "PRAGMA auto_vacuum = 2",
  ])
  func `a store in another format works`(_ setting: String) throws {
    let folder = try Folder()
    try folder.shell("\(setting); CREATE TABLE first (x); DROP TABLE first")
    try folder.makeOld(Migration.latest)
    try exercise(folder)
  }

  @Test(arguments: [1, 32, 255]) func `a store with reserved bytes at the end of each page works`(_ count: Int)
    throws
  {
    let folder = try Folder()
    try folder.makeOld(Migration.latest)
    try Program.run(
      "sqlite3", ["-cmd", ".filectrl reserve_bytes \(count)", folder.database, "PRAGMA journal_mode = DELETE; VACUUM"])
    #expect(try folder.bytes()[20] == UInt8(count))
    try exercise(folder)
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"]) func `a database in UTF-16 is refused and left unchanged`(
    _ encoding: String
  ) throws {
    let folder = try Folder()
    try folder.shell("PRAGMA encoding = '\(encoding)'; CREATE TABLE first (x); DROP TABLE first")
    try folder.makeOld(Migration.latest)
    let bytes = try folder.bytes()
    let error = #expect(throws: StoreError.self) { try folder.open() }
    #expect(error?.code == .cannotOpen && error?.message.contains("UTF-16") == true, "\(error as Any)")
    #expect(try folder.bytes() == bytes)
  }

  private static let values: [StoredValue] = [
    .integer(.min), .integer(.max), .real(.infinity), .real(.leastNonzeroMagnitude), .text(""), .text("a\u{0}b"),
    .text("\u{1F600}\u{FFFD}"),
    .text(String(repeating: "ë", count: 70_000)), .blob([]), .blob(Array(repeating: 0xD8, count: 70_001)),
  ]

  private func exercise(_ folder: Folder) throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "Zoë \u{10FFFF}", hairColor: Color("auburn")) }
    for (number, value) in Self.values.enumerated() {
      try store.write { try $0.set("value \(number)", of: id, to: value) }
    }
    try folder.shell("UPDATE users SET name = 'NIX' WHERE id = \(id)")
    let user = try #require(try store.read { try $0.user(id) })
    #expect(try user.name == "NIX")
    for (number, value) in Self.values.enumerated() { #expect(user.storedValues["value \(number)"] == value) }
    let new = try store.allChanges().flatMap { try $0.changes }.filter { $0.attribute.text.hasPrefix("value") }.map(
      \.new)
    #expect(new == Self.values)
    #expect(try store.read { try $0.ids(named: "NIX") } == [id])
    try store.backup(to: folder.path + "/backup.db")
    try store.restore(from: folder.path + "/backup.db")
    #expect(try store.read { try $0.user(id) } == user)
    _ = try store.compact(keeping: RetentionPolicy(.init(changes: 1)))
    store.close()
    #expect(try Survey(folder.database).isSound)
  }

  @Test func `a value larger than the library's limit is read as it is`() throws {
    let folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "NIX") }
    try folder.shell(
      """
      INSERT INTO attributes VALUES (\(id), 'text', replace(hex(zeroblob(10000000)), '0', 'x'));
      INSERT INTO attributes VALUES (\(id), 'blob', zeroblob(20000000))
      """)
    let user = try #require(try store.read { try $0.user(id) })
    #expect(try user[Attribute<String>("text")]?.utf8.count == 20_000_000)
    #expect(try user[Attribute<[UInt8]>("blob")]?.count == 20_000_000)
    #expect(
      try store.allChanges().flatMap { try $0.changes }.last?.new == .blob(Array(repeating: 0, count: 20_000_000)))
    try store.write { try $0.rename(id, to: "Zoë") }
    try store.write { try $0.set("blob", of: id, to: .null) }
    #expect(try Survey(folder.database).isSound)
  }
}
