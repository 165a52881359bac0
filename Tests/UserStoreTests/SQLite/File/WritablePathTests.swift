import Foundation
import Testing

@testable import UserStore

/// The paths that the library accepts for a new store, a backup, and any other file.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct WritablePathTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    store = try folder.open()
    try store.write { try $0.add(name: "NIX") }
  }

  private static let additions = ["-wal", "-shm", "-journal", "-WAL"]

  /// Expects that neither a store nor a backup is written, and that the store keeps what it has.
  private func expectRefused(_ path: String) throws {
    let before = try folder.files()
    #expect(code { try store.backup(to: path) } == .cannotCreate, "\(path)")
    #expect(code { try store.backup(to: path, replacing: true) } == .cannotCreate, "\(path)")
    #expect(code { try WritablePath(path).file } == .cannotCreate, "\(path)")
    #expect(try folder.files() == before)
    #expect(try folder.shell("SELECT name FROM users; PRAGMA integrity_check") == "NIX\nok\n", "\(path)")
  }

  @Test func `no file is written under a name that SQLite gives to its own files`() throws {
    for addition in Self.additions {
      for path in [folder.database, folder.path + "/none.db"] {
        try expectRefused(path + addition)
        // Those of the open store exist, or may exist at any time.
        if path == folder.database { continue }
        #expect(code { try UserStore(path: path + addition) } == .cannotCreate)
        try Files.createPrivate(path + addition)
        #expect(code { try UserStore(path: path + addition) } == .cannotCreate, "an empty file would be filled")
        Files.remove(path + addition)
      }
    }
    #expect(code { try UserStore(path: folder.path + "/none/users.db-wal") } == .cannotCreate)
    #expect(try folder.files().isEmpty, "no folder was created for it")
  }

  @Test func `no file of an open store is written, by whatever name`() throws {
    for addition in ["", "-wal", "-shm"] {
      let file = folder.database + addition
      try folder.link("link", to: file)
      try FileManager.default.linkItem(atPath: file, toPath: folder.path + "/hard")
      try FileManager.default.linkItem(atPath: file, toPath: folder.path + "/hard2")
      try folder.link("link-to-hard", to: "hard2")
      for path in [file, folder.path + "/link", folder.path + "/hard", folder.path + "/link-to-hard"] {
        try expectRefused(path)
        // Another store of this process does not write over it either.
        #expect(code { try UserStore.inMemory().backup(to: path, replacing: true) } == .cannotCreate)
      }
      for name in ["link", "hard", "hard2", "link-to-hard"] { Files.remove(folder.path + "/" + name) }
    }
  }

  @Test func `a file that an open store has beside it is not opened as a database, which would drop the locks on it`()
    throws
  {
    try FileManager.default.linkItem(atPath: folder.database + "-shm", toPath: folder.path + "/hard")
    for path in [folder.database + "-shm", folder.database + "-wal", folder.path + "/hard"] {
      #expect(code { try UserStore.check(path: path) } == .cannotOpen)
      #expect(code { try store.restore(from: path) } == .cannotOpen)
      #expect(code { try UserStore(path: path) } == .cannotOpen)
    }
  }

  @Test func `a moved store is still recognized, and a closed one is a file like any other`() throws {
    let moved = folder.path + "/moved.db"
    try FileManager.default.moveItem(atPath: folder.database, toPath: moved)
    #expect(code { try WritablePath(moved) } == .cannotCreate)
    try FileManager.default.moveItem(atPath: moved, toPath: folder.database)
    store.close()
    #expect(try WritablePath(folder.database).content == .file)
  }

  @Test func `a leftover -wal file prevents creating a store and a backup at its path`() throws {
    let path = folder.path + "/left.db"
    try Files.createPrivate(path + "-wal")
    try expectRefused(path)
    #expect(code { try UserStore(path: path) } == .cannotCreate)
    #expect(try folder.files() == ["left.db-wal"])
  }

  @Test func `a leftover -journal file prevents a backup at its path, but not a store, which SQLite creates`() throws {
    let path = folder.path + "/left.db"
    for content in ["", "garbage", "\u{d9}\u{d5}\u{5}\u{f9} ¡c\u{d7}"] {
      let journal = content.unicodeScalars.map { UInt8($0.value) } + [UInt8](repeating: 0, count: 600)
      try Data(journal).write(to: URL(filePath: path + "-journal"))
      try expectRefused(path)
      let left = try UserStore(path: path)
      try left.write { try $0.add(name: "A") }
      left.close()
      #expect(try folder.files() == ["left.db"])
      Files.remove(path)
    }
  }

  @Test func `what is no regular file is refused, and a stream is recognized`() throws {
    try Files.createPrivateFolder(folder.path + "/folder")
    #expect(unsafe mkfifo(folder.path + "/pipe", 0o600) == 0)
    try folder.link("loop", to: "loop")
    for name in ["folder", "folder/", "pipe", "loop", "new/", "none/new", ".", "..", "a\u{0}b"] {
      try expectRefused(folder.path + "/" + name)
    }
    #expect(try WritablePath(folder.path + "/pipe").content == .stream)
    #expect(try WritablePath("/dev/null").content == .stream)
    #expect(code { try WritablePath("") } == .cannotCreate)
  }

  @Test func `a link is followed, also to a file that does not exist yet`() throws {
    try Files.createPrivateFolder(folder.path + "/elsewhere")
    try folder.link("backup", to: "elsewhere/new.db")
    try folder.link("new", to: "users2.db")
    try store.backup(to: folder.path + "/backup")
    #expect(code { try store.backup(to: folder.path + "/backup") } == .alreadyExists)
    try store.backup(to: folder.path + "/backup", replacing: true)
    let other = try UserStore(path: folder.path + "/new")
    try other.write { try $0.add(name: "A") }
    other.close()
    #expect(try folder.files() == ["backup", "elsewhere", "new", "users2.db"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/elsewhere") == ["new.db"])
    #expect(try folder.shell("SELECT name FROM users", folder.path + "/users2.db") == "A\n")
    try folder.link("nowhere", to: "none/new.db")
    try expectRefused(folder.path + "/nowhere")
    #expect(code { try UserStore(path: folder.path + "/nowhere") } == .cannotCreate)
  }

  @Test func `SQLite opens a path of the greatest length, and a longer one is refused before anything is created`()
    throws
  {
    let name = String(repeating: "n", count: 200)
    let deep = folder.path + "/" + name
    for excess in [0, 1, 7, 8, 9] {
      let length = DatabasePath.longest - deep.utf8.count - 1 + excess
      // Two folders, so that no name is too long.
      let path = deep + "/" + String(repeating: "f", count: 40) + "/" + String(repeating: "n", count: length - 41)
      #expect(path.utf8.count == DatabasePath.longest + excess)
      if excess == 0 {
        try UserStore(path: path).close()
        #expect(try Files.size(of: path) > 0)
        try store.backup(to: path, replacing: true)
        try FileManager.default.removeItem(atPath: deep)
      } else {
        let error = #expect(throws: StoreError.self) { try UserStore(path: path) }
        #expect(error?.code == .cannotOpen && error?.message.contains("504 bytes") == true, "\(error as Any)")
        #expect(code { try store.backup(to: path) } == .cannotCreate)
        #expect(try folder.files().isEmpty, "no folder was created either")
      }
    }
    for (length, isAccepted) in [(247, true), (248, false), (255, false)] {
      let path = folder.path + "/" + String(repeating: "n", count: length)
      if isAccepted {
        try UserStore(path: path).close()
        try store.backup(to: path, replacing: true)
        Files.remove(path)
      } else {
        #expect(code { try UserStore(path: path) } == .cannotOpen)
        #expect(code { try store.backup(to: path) } == .cannotCreate)
      }
      #expect(try folder.files().isEmpty)
    }
  }

  @Test func `in a folder that was removed, an error says so`() async {
    // In a process of its own, because the current folder is that of the process.
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      try Files.createPrivateFolder(folder.path + "/gone")
      let entered = unsafe chdir(folder.path + "/gone")
      #expect(entered == 0)
      Files.remove(folder.path + "/gone")
      for access in [Configuration.Access.createIfMissing, .readWrite, .readOnly] {
        var configuration = Configuration()
        configuration.access = access
        let error = #expect(throws: StoreError.self) { try UserStore(path: "users.db", configuration: configuration) }
        #expect(error?.code == .cannotOpen && error?.message.contains("removed") == true, "\(error as Any)")
      }
      #expect(code { try UserStore.inMemory().backup(to: "backup.db") } == .cannotCreate)
      try UserStore(path: folder.path + "/users.db").close()
    }
  }
}
