import Foundation
import Testing

@testable import UserStore

/// The file events that wake a watcher.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DirectoryEventsTests {
  let folder: Folder
  let events: DirectoryEvents

  init() throws {
    folder = try Folder()
    events = try DirectoryEvents(
      folder: folder.path, names: ["users.db", "users.db-wal"], signal: "users.db-wal", usingEvents: true)
  }

  /// Creates a file without a descriptor.
  ///
  /// A process that another test starts has a copy of each descriptor until it begins its program, and a file that was opened for
  /// writing is reported when the last copy is closed: after the call that closed it in 177 of 3,000 trials.
  private func create(_ name: String) -> String {
    let path = folder.path + "/" + name
    #expect(unsafe mknod(path, S_IFREG | 0o600, 0) == 0)
    return path
  }

  /// Waits until some events have come, and returns everything that has happened since the last call: a signal can be as late.
  private func wait(for expected: CommitEvent, _ events: DirectoryEvents) -> CommitEvent {
    var all: CommitEvent = []
    while !all.isSuperset(of: expected) {
      let more = events.wait(microseconds: 60_000_000)
      if more.isEmpty { return all }
      all.formUnion(more)
    }
    return all.union(drain(events))
  }

  /// Returns everything that has happened since the last call.
  private func drain(_ events: DirectoryEvents) -> CommitEvent {
    var all: CommitEvent = []
    while true {
      let more = events.wait(microseconds: 0)
      if more.isEmpty { return all }
      all.formUnion(more)
    }
  }

  @Test func `a write of a store signals once its commit is visible, and touches no file`() throws {
    // The events that a process with an older version of the library receives.
    let old = try DirectoryEvents(folder: folder.path, names: ["users.db", "users.db-wal"], usingEvents: true)
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "a") }
    _ = (drain(events), drain(old))
    try store.write { try $0.add(name: "b") }
    #expect(wait(for: .signaled, events) == [.written, .signaled])
    #expect(drain(old) == .written, "a touch makes the next sync of the -wal file more expensive")
    try store.write { _ in }
    #expect(!drain(events).contains(.signaled), "nothing was written")
  }

  @Test func `a signal of the current -wal file is received, and so is a touch, which older versions use`() throws {
    let wal = folder.database + "-wal"
    Files.signal(wal)
    #expect(drain(events) == [], "a signal that fails has no effect")
    for round in 1...3 {
      _ = create("users.db-wal")
      #expect(drain(events).contains(.renamed))
      Files.signal(wal)
      #expect(wait(for: .signaled, events) == .signaled, "round \(round)")
      Files.signal(create("other \(round)"))
      #expect(drain(events) == [], "reading another file does not wake a watcher")
      #expect(unsafe utimes(wal, nil) == 0)
      #expect(drain(events) == .signaled && !CommitEvent.signaled.contains(.written), "one look is enough after it")
      try FileManager.default.removeItem(atPath: wal)
      _ = drain(events)
    }
  }

  @Test func `a pipe in the place of the -wal file does not block a writer`() throws {
    let pipe = folder.database + "-wal"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    Files.signal(pipe)
  }

  @Test func `events of writes can be turned off and on again, and names and wakes are reported throughout`()
    throws
  {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "a") }
    _ = drain(events)
    events.setReportsWrites(false)
    try store.write { try $0.add(name: "b") }
    #expect(drain(events) == [])
    events.wake()
    #expect(drain(events) == .woken)
    store.close()
    #expect(drain(events) == .renamed, "closing removed the -wal file")
    events.setReportsWrites(true)
    _ = drain(events)
    let again = try folder.open { $0.watchesOtherProcesses = false }
    #expect(drain(events).contains(.renamed), "from now on, the new -wal file is watched")
    try again.write { try $0.add(name: "c") }
    #expect(wait(for: [.written, .signaled], events).isSuperset(of: [.written, .signaled]))
  }

  @Test func `after events are closed, a wait ends only by a wake`() {
    events.closeEvents()
    events.wake()
    #expect(events.wait(microseconds: 60_000_000) == .woken)
    events.closeEvents()
  }

  @Test func `a foreign write is reported, and a read is not`() throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "a") }
    let plain = try folder.plain()
    // The first read opens a connection, and opening may set the owner of the files, which is an event.
    _ = try store.read { try $0.users() }
    _ = drain(events)
    _ = try store.read { try $0.users() }
    #expect(drain(events) == [])
    try plain.execute("UPDATE users SET name = 'b'")
    #expect(drain(events).contains(.written))
  }

  @Test func `only the watched files of the folder are reported when they appear or disappear`() throws {
    let manager = FileManager.default
    _ = manager.createFile(atPath: folder.path + "/other", contents: Data([1]))
    #expect(drain(events) == [])
    _ = manager.createFile(atPath: folder.database, contents: nil)
    #expect(drain(events).contains(.renamed))
    try manager.moveItem(atPath: folder.database, toPath: folder.path + "/elsewhere")
    #expect(drain(events).contains(.renamed))
  }

  @Test func `writes to other files of the folder are no events`() throws {
    let wal = create("users.db-wal")
    let others = try (0..<2).map { try FileHandle(forWritingTo: URL(filePath: folder.file("other \($0)"))) }
    _ = drain(events)
    // More than one read takes, if they were events: the kernel merges only those that are equal to the one before.
    for number in 0..<2_000 { try others[number % 2].write(contentsOf: Data([1])) }
    Files.signal(wal)
    #expect(events.wait(microseconds: 60_000_000) == .signaled)
  }

  @Test func `a wait ends although names in the folder change all the time`() throws {
    let wal = create("users.db-wal")
    _ = drain(events)
    for number in 0..<2_000 { _ = try folder.file("other \(number)") }
    Files.signal(wal)
    // A wait that reads until there are no more events never ends while others come as fast.
    #expect(events.wait(microseconds: 60_000_000) == [])
    var received: CommitEvent = []
    while received.isEmpty { received = events.wait(microseconds: 60_000_000) }
    #expect(received == .signaled)
  }

  @Test func `a file that replaces a watched one is watched`() throws {
    let database = try folder.file("users.db")
    _ = drain(events)
    let new = try folder.file("new")
    try FileManager.default.removeItem(atPath: database)
    try FileManager.default.moveItem(atPath: new, toPath: database)
    #expect(drain(events).contains(.renamed))
    let handle = try FileHandle(forWritingTo: URL(filePath: database))
    try handle.write(contentsOf: Data([1]))
    #expect(drain(events) == .written)
  }

  @Test func `a wake before a wait is kept, and ends exactly one wait`() throws {
    for usingEvents in [true, false] {
      let events = try DirectoryEvents(folder: folder.path, names: [], usingEvents: usingEvents)
      #expect(events.hasEvents == usingEvents)
      events.wake()
      #expect(events.wait(microseconds: 60_000_000) == .woken)
      #expect(drain(events) == [])
    }
  }

  @Test func `an overflow is reported after the events that were kept, and later events are received again`() throws {
    // The queue holds 16,384 events (fs.inotify.max_queued_events), and an event equal to the one before is merged with it.
    let limit = try #require(
      try Int(String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8).filter(\.isNumber)))
    let files = ["users.db", "users.db-wal"].map { create($0) }
    _ = drain(events)
    for number in 0...limit { unsafe utimes(files[number % 2], nil) }
    #expect(drain(events) == [.signaled, .overflowed])
    unsafe utimes(files[0], nil)
    #expect(drain(events) == .signaled)
  }

  @Test func `without events nothing is reported, and a missing folder has no events`() throws {
    let polled = try DirectoryEvents(folder: folder.path, names: ["users.db"], usingEvents: false)
    _ = FileManager.default.createFile(atPath: folder.database, contents: nil)
    #expect(drain(polled) == [])
    #expect(try !DirectoryEvents(folder: folder.path + "/no", names: [], usingEvents: true).hasEvents)
  }
}
