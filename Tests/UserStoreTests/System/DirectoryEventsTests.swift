import Foundation
import Testing

@testable import UserStore

/// What wakes a watcher.
@Suite(.timeLimit(.minutes(5))) struct DirectoryEventsTests {
  let folder: Folder
  let events: DirectoryEvents

  init() throws {
    folder = try Folder()
    events = try DirectoryEvents(
      folder: folder.path, names: ["users.db", "users.db-wal"], signal: "users.db-wal", usingEvents: true)
  }

  /// Everything that has happened so far.
  private func happened(_ events: DirectoryEvents) -> DirectoryEvents.Happening {
    var all: DirectoryEvents.Happening = []
    while true {
      let more = events.wait(microseconds: 0)
      if more.isEmpty { return all }
      all.formUnion(more)
    }
  }

  @Test func `a write of a store gives the signal when its commit is visible, and touches no file`() throws {
    // What a process of an older version hears.
    let old = try DirectoryEvents(folder: folder.path, names: ["users.db", "users.db-wal"], usingEvents: true)
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "a") }
    _ = (happened(events), happened(old))
    try store.write { try $0.add(name: "b") }
    #expect(happened(events) == [.written, .touched])
    #expect(happened(old) == .written, "a touch makes the next sync of the -wal file dearer")
    try store.write { _ in }
    #expect(!happened(events).contains(.touched), "nothing was written")
  }

  @Test func `a signal is heard, of the file that is there now; a touch too, as older versions do it`() throws {
    let manager = FileManager.default
    let (wal, other) = (folder.database + "-wal", folder.path + "/other")
    Files.signal(wal)
    #expect(happened(events) == [], "a signal that fails is ignored")
    for round in 1...3 {
      _ = manager.createFile(atPath: wal, contents: nil)
      #expect(happened(events).contains(.renamed))
      Files.signal(wal)
      #expect(happened(events) == .touched, "round \(round)")
      _ = manager.createFile(atPath: other, contents: nil)
      Files.signal(other)
      #expect(happened(events) == [], "reading another file wakes no watcher")
      #expect(unsafe utimes(wal, nil) == 0)
      #expect(happened(events) == .touched)
      try manager.removeItem(atPath: wal)
      _ = happened(events)
    }
  }

  @Test func `a pipe in the place of the file keeps no writer waiting`() throws {
    let pipe = folder.database + "-wal"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    Files.signal(pipe)
  }

  @Test func `it can do without being told of writes, is told of names and wakes all the same, and later of all again`()
    throws
  {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "a") }
    _ = happened(events)
    events.setHearsWrites(false)
    try store.write { try $0.add(name: "b") }
    #expect(happened(events) == [])
    events.wake()
    #expect(happened(events) == .woken)
    store.close()
    #expect(happened(events) == .renamed, "the -wal file went")
    events.setHearsWrites(true)
    _ = happened(events)
    let again = try folder.open { $0.watchesOtherProcesses = false }
    try again.write { try $0.add(name: "c") }
    #expect(happened(events).isSuperset(of: [.written, .touched]))
  }

  @Test func `closed, it waits for nothing but a wake`() {
    events.closeEvents()
    events.wake()
    #expect(events.wait(microseconds: 60_000_000) == .woken)
    events.closeEvents()
  }

  @Test func `a foreign write is seen, and reading is not`() throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "a") }
    let plain = try folder.plain()
    // Opening is no reading: it may set the owner of the files.
    _ = try store.read { try $0.users() }
    _ = happened(events)
    _ = try store.read { try $0.users() }
    #expect(happened(events) == [])
    try plain.execute("UPDATE users SET name = 'b'")
    #expect(happened(events).contains(.written))
  }

  @Test func `other files of the folder wake nobody; ours coming and going do`() throws {
    let manager = FileManager.default
    _ = manager.createFile(atPath: folder.path + "/other", contents: Data([1]))
    #expect(happened(events) == [])
    _ = manager.createFile(atPath: folder.database, contents: nil)
    #expect(happened(events).contains(.renamed))
    try manager.moveItem(atPath: folder.database, toPath: folder.path + "/elsewhere")
    #expect(happened(events).contains(.renamed))
  }

  @Test func `a wake that comes first is kept, and ends one wait`() throws {
    for usingEvents in [true, false] {
      let events = try DirectoryEvents(folder: folder.path, names: [], usingEvents: usingEvents)
      #expect(events.hasEvents == usingEvents)
      events.wake()
      #expect(events.wait(microseconds: 60_000_000) == .woken)
      #expect(happened(events) == [])
    }
  }

  @Test func `when the system drops events, that is told after those it kept, and later ones come again`() throws {
    // Its queue takes 16,384 (fs.inotify.max_queued_events), and joins what is the same as the one before.
    let limit = try #require(
      try Int(String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8).filter(\.isNumber)))
    let files = try ["users.db", "users.db-wal"].map { try folder.file($0) }
    _ = happened(events)
    for number in 0...limit { unsafe utimes(files[number % 2], nil) }
    #expect(happened(events) == [.touched, .overflowed])
    unsafe utimes(files[0], nil)
    #expect(happened(events) == .touched)
  }

  @Test func `without events nothing is told, and a folder that is missing has none`() throws {
    let polled = try DirectoryEvents(folder: folder.path, names: ["users.db"], usingEvents: false)
    _ = FileManager.default.createFile(atPath: folder.database, contents: nil)
    #expect(happened(polled) == [])
    #expect(try !DirectoryEvents(folder: folder.path + "/no", names: [], usingEvents: true).hasEvents)
  }
}
