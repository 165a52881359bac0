import Foundation
import Testing

@testable import UserStore

/// A backup is a complete snapshot of the store, or does not exist.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct BackupTests {
  let folder: Folder
  let store: UserStore
  let target: String

  init() throws {
    folder = try Folder()
    store = try folder.open()
    target = folder.path + "/backup.db"
  }

  /// Fills the store with more data than a backup copies between two calls of `progress`.
  private func fill() throws {
    try store.write { transaction in
      for number in 0..<6 {
        let id = try transaction.add(name: "\(number)", hairColor: Color("red"))
        try transaction.set("bulk", of: id, to: .blob(Array(repeating: UInt8(number), count: 1 << 20)))
      }
    }
  }

  private func openReadOnly(_ file: String? = nil) throws -> UserStore {
    var configuration = Configuration()
    configuration.access = .readOnly
    return try UserStore(path: file ?? target, configuration: configuration)
  }

  @Test func `a backup is one private file with the same records, log and epoch, and can be read without writing`()
    throws
  {
    let zoe = try store.write { try $0.add(name: "Zoë") }
    let cursor = try store.read { try $0.cursor }
    try store.write { try $0.set(Attribute<Double>("size"), of: zoe, to: 1.0) }
    try folder.shell("INSERT INTO attributes VALUES (1, 'odd', CAST(x'41FF00' AS TEXT)); UPDATE users SET name = 'X'")
    let end = try store.backup(to: target, ignoringProblems: true)
    #expect(try end == store.read { try $0.cursor })
    #expect(try folder.rows(target) == folder.rows())
    #expect(try folder.mode(of: "backup.db") == 0o600)
    #expect(try folder.shell("PRAGMA journal_mode", target) == "delete\n")
    let backup = try openReadOnly()
    #expect(try backup.allChanges(after: cursor).map(\.lines) == store.allChanges(after: cursor).map(\.lines))
    try store.write { try $0.rename(zoe, to: "later") }
    let later = try store.read { try $0.cursor }
    #expect(code { try backup.page(after: later) } == .diverged, "the log of the backup ends before this cursor")
    #expect(try folder.files() == ["backup.db"])
    #expect(try UserStore.check(path: target).filter { $0.severity == .problem }.map(\.attribute) == ["odd"])
  }

  @Test func `a backup does not block writers, and does not contain later writes`() throws {
    try fill()
    let before = try folder.rows()
    let parts = Recorder<Double>()
    try store.backup(to: target) { part in
      parts.record(part)
      try folder.python("db.execute('PRAGMA busy_timeout = 0'); db.execute(\"UPDATE users SET name = 'meanwhile'\")")
    }
    #expect(parts.count > 1 && parts.all == parts.all.sorted() && parts.all.allSatisfy { (0...1).contains($0) })
    #expect(try folder.rows(target) == before)
    #expect(try store.read { try $0.ids(named: "meanwhile").count } == 6)
  }

  @Test func `a backup contains only whole transactions, while other processes write`() throws {
    let (folder, store, target) = (folder, store, target)
    let started = Gate()
    let python = try Threads.start {
      started.open()
      try folder.python(
        """
        for i in range(400):
          db.execute('BEGIN IMMEDIATE')
          for n in range(3): db.execute('INSERT INTO users (name) VALUES (?)', ('%d' % i,))
          db.execute('COMMIT')
        """)
    }
    started.wait()
    for _ in 0..<8 {
      let end = try store.backup(to: target, replacing: true)
      let backup = try openReadOnly()
      #expect(try backup.read { try $0.count() } % 3 == 0)
      #expect(try backup.read { try $0.cursor } == end)
    }
    try python.join()
    #expect(try store.read { try $0.count() } == 1_200)
  }

  @Test func `a backup that ends early leaves an existing file unchanged, and no other file`() throws {
    try fill()
    struct Enough: Error {}
    for isReplacing in [false, true] {
      #expect(throws: Enough.self) { try store.backup(to: target, replacing: isReplacing) { _ in throw Enough() } }
      #expect(try folder.files() == (isReplacing ? ["backup.db"] : []))
      if !isReplacing { try Data("precious".utf8).write(to: URL(filePath: target)) }
    }
    #expect(try folder.bytes(target) == Data("precious".utf8))
    try store.write { try $0.add(name: "next") }
  }

  @Test func `an existing file is replaced only on request`() throws {
    try store.write { try $0.add(name: "NIX") }
    let file = try folder.file("backup.db", holding: "precious")
    #expect(code { try store.backup(to: file) } == .alreadyExists)
    #expect(try folder.bytes(file) == Data("precious".utf8))
    try store.backup(to: file, replacing: true)
    #expect(try openReadOnly().read { try $0.count() } == 1)
    #expect(try folder.files() == ["backup.db"])
  }

  @Test func `a file that appears during the backup is not replaced`() throws {
    try fill()
    #expect(
      code {
        try store.backup(to: target) { _ in
          if try folder.files().count == 1 { _ = try folder.file("backup.db", holding: "precious") }
        }
      } == .alreadyExists)
    #expect(try folder.bytes(target) == Data("precious".utf8))
    #expect(try folder.files() == ["backup.db"])
  }

  @Test func `a target that cannot or must not be overwritten is refused`() throws {
    try store.write { try $0.add(name: "NIX") }
    let before = try folder.rows()
    try folder.link("link.db", to: folder.database)
    let stale = try folder.file("stale.db-wal", holding: "frames")
    let codes = ["users.db", "link.db", ".", "nowhere/backup.db", "stale.db", ""].map { name in
      code { try store.backup(to: folder.path + "/" + name, replacing: true) }
    }
    #expect(codes == Array(repeating: .cannotCreate, count: 6))
    #expect(try folder.bytes(stale) == Data("frames".utf8))
    #expect(try folder.files() == ["link.db", "stale.db-wal"])
    #expect(try folder.rows() == before)
  }

  @Test func `read-only stores and stores in memory can be backed up, and not inside a transaction`() throws {
    try store.write { try $0.add(name: "NIX") }
    try openReadOnly(folder.database).backup(to: target)
    #expect(try openReadOnly().read { try $0.ids(named: "NIX").count } == 1)
    let memory = try UserStore.inMemory()
    try memory.write { try $0.add(name: "nowhere") }
    try memory.backup(to: target, replacing: true)
    #expect(try openReadOnly().read { try $0.ids(named: "nowhere").count } == 1)
    try memory.write { try $0.add(name: "next") }
    #expect(code { try store.read { _ in try store.backup(to: target, replacing: true) } } == .nested)
  }

  @Test(arguments: [false, true])
  func `a damaged store cannot be backed up`(_ ignoringProblems: Bool) throws {
    try fill()
    store.close()
    try folder.damage("attributes")
    let damaged = try folder.open { $0.access = .readOnly }
    #expect(code { try damaged.backup(to: target, ignoringProblems: ignoringProblems) } == .corrupt)
    #expect(try folder.files() == [])
  }

  @Test(arguments: [
    "UPDATE users SET name = 'x' WHERE id = 2", "DELETE FROM changes WHERE seq = 2",
    "INSERT INTO attributes VALUES (9, 'x', 1)",
  ])
  func `a store with problems is backed up only if they are ignored`(_ sql: String) throws {
    try fill()
    try folder.withoutTriggers(sql)
    #expect(code { try store.backup(to: target) } == .problemsFound)
    #expect(try folder.files() == [])
    try store.backup(to: target, ignoringProblems: true)
    #expect(try folder.rows(target) == folder.rows())
  }

  @Test func `a warning does not prevent a backup`() throws {
    try store.write { try $0.add(name: "NIX") }
    try folder.withoutTriggers("INSERT INTO displaced_users VALUES (1, 'x', NULL, 0)")
    try store.backup(to: target)
    #expect(try UserStore.check(path: target).map(\.kind) == [.scratch])
  }
}
