import Foundation
import Testing

@testable import UserStore

/// Paths, permissions, and the creation of files.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DatabaseFileTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private func code(_ path: String, _ access: Configuration.Access = .createIfMissing) -> StoreError.Code? {
    var configuration = Configuration()
    configuration.access = access
    return UserStoreTests.code { try UserStore(path: path, configuration: configuration) }
  }

  @Test func `only the owner can access a new store and its folders`() throws {
    let store = try UserStore(path: folder.path + "/new/deep/users.db")
    try store.write { try $0.add(name: "a") }
    #expect(try folder.mode(of: "new") == 0o700)
    #expect(try folder.mode(of: "new/deep") == 0o700)
    for name in ["users.db", "users.db-wal", "users.db-shm"] {
      #expect(try folder.mode(of: "new/deep/" + name) == 0o600)
    }
  }

  @Test func `a temporary store throws noPermission if the process has none for the folder of temporary files`() async {
    // In a process of its own, because the environment and the user are those of the process.
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      unsafe setenv("TMPDIR", folder.path + "/missing", 1)
      #expect(UserStoreTests.code { try UserStore.temporary() } == .cannotCreate)
      unsafe setenv("TMPDIR", folder.path, 1)
      unsafe chmod(folder.path, 0o500)
      // Root has permission for every folder.
      if geteuid() == 0 { seteuid(65_534) }
      #expect(UserStoreTests.code { try UserStore.temporary() } == .noPermission)
      seteuid(getuid())
      unsafe chmod(folder.path, 0o700)
    }
  }

  @Test func `a missing file is created only with createIfMissing`() throws {
    #expect(code(folder.database, .readWrite) == .notFound)
    #expect(code(folder.database, .readOnly) == .notFound)
    #expect(code(folder.path + "/no/users.db", .readOnly) == .notFound)
    #expect(try Files.kind(of: folder.path + "/no") == .missing)
    #expect(try Files.kind(of: folder.database) == .missing)
  }

  @Test func `an empty file becomes a store only with createIfMissing`() throws {
    try Files.createPrivate(folder.database)
    #expect(code(folder.database, .readWrite) == .notFound)
    #expect(code(folder.database, .readOnly) == .notFound)
    try folder.open().write { try $0.add(name: "a") }
    #expect(try folder.shell("SELECT name FROM users") == "a\n")
  }

  @Test func `folders, pipes and devices are refused without blocking`() throws {
    #expect(code(folder.path) == .cannotOpen)
    #expect(code("/dev/null") == .cannotOpen)
    #expect(code("") == .cannotOpen)
    #expect(code(folder.path + "/a\u{0}b") == .cannotOpen)
    try Program.run("mkfifo", [folder.path + "/pipe"])
    for access in [Configuration.Access.createIfMissing, .readWrite, .readOnly] {
      #expect(code(folder.path + "/pipe", access) == .cannotOpen)
    }
    try folder.open().close()
    #expect(code(folder.database + "/below.db") == .cannotOpen)
  }

  @Test func `URI syntax in a path is part of the file name`() throws {
    for name in ["file:users.db", "users.db?mode=memory", "%41.db", ":memory:", "ü .db"] {
      let store = try UserStore(path: folder.path + "/" + name)
      try store.write { try $0.add(name: name) }
      store.close()
      #expect(try Files.size(of: folder.path + "/" + name) > 0)
    }
  }

  @Test func `a link is resolved, and one to a missing file is no store`() throws {
    try folder.open().write { try $0.add(name: "a") }
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: folder.path + "/link.db", withDestinationPath: "users.db")
    try manager.createSymbolicLink(atPath: folder.path + "/nowhere.db", withDestinationPath: "missing.db")
    let linked = try UserStore(path: folder.path + "/link.db")
    #expect(try linked.read { try $0.count() } == 1)
    #expect(try Files.kind(of: folder.path + "/link.db-wal") == .missing)
    for access in [Configuration.Access.readWrite, .readOnly] {
      #expect(code(folder.path + "/nowhere.db", access) == .notFound)
    }
  }

  @Test func `a file with two names is opened only for reading, and the error says how many names it has`() throws {
    let store = try folder.open()
    try store.write { try $0.add(name: "a") }
    store.close()
    let other = folder.path + "/other.db"
    try FileManager.default.linkItem(atPath: folder.database, toPath: other)
    for path in [folder.database, other] {
      for access in [Configuration.Access.createIfMissing, .readWrite] { #expect(code(path, access) == .cannotOpen) }
      var configuration = Configuration()
      configuration.access = .readOnly
      let reader = try UserStore(path: path, configuration: configuration)
      #expect(try reader.read { try $0.count() } == 1)
      reader.close()
    }
    let error = #expect(throws: StoreError.self) { try UserStore(path: other) }
    #expect(error?.message.contains("2 names") == true, "\(error as Any)")
    let findings = try UserStore.check(path: other)
    #expect(findings.contains { $0.severity == .warning && $0.message.contains("2 names") }, "\(findings)")
    Files.remove(other)
    try folder.open().close()
  }

  @Test func `six threads that open a new file at once create one store`() throws {
    for _ in 0..<5 {
      let folder = try Folder()
      try Threads.run(6) { thread in
        let store = try folder.open()
        try store.write { try $0.add(name: "\(thread)") }
      }
      let counts = try folder.shell("SELECT count(*) FROM users; SELECT count(*) FROM migrations")
      #expect(counts == "6\n\(Migration.all.count)\n")
      #expect(try folder.shell("PRAGMA integrity_check; PRAGMA journal_mode") == "ok\nwal\n")
    }
  }

  @Test func `the page size of a new file is 2,048`() throws {
    try folder.open().close()
    #expect(try folder.shell("PRAGMA page_size") == "2048\n")
  }

  @Test func `closing copies the -wal file into the database and removes it`() throws {
    let store = try folder.open()
    try store.write { try $0.add(name: "a") }
    store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["users.db"])
  }

  enum Replacement: CaseIterable {
    case file, folder, pipe, nothing
  }

  @Test(arguments: Replacement.allCases)
  func `what has taken the place of the file is not opened`(_ replacement: Replacement) throws {
    try folder.open().close()
    let file = try DatabaseFile(folder.database, Configuration())
    try FileManager.default.moveItem(atPath: folder.database, toPath: folder.path + "/moved")
    switch replacement {
    case .file: try FileManager.default.copyItem(atPath: folder.path + "/moved", toPath: folder.database)
    case .folder: try Files.createPrivateFolder(folder.database)
    // SQLite would open it only for reading if there is a journal, and wait for a writer.
    case .pipe:
      #expect(unsafe mkfifo(folder.database, 0o600) == 0)
      try Files.createPrivate(folder.database + "-journal")
    case .nothing: break
    }
    let events = try DirectoryEvents(folder: folder.path, names: ["users.db"], usingEvents: true)
    #expect(UserStoreTests.code { _ = try file.open(.queryOnly) } == .moved)
    // A watcher that opens a file because of an event must not cause another one.
    #expect(events.wait(microseconds: 0) == [])
  }
}
