import Foundation
import TestSupport
import Testing

@testable import UserStore

/// A -wal file that is truncated, damaged, or another store's, and foreign files in the places of SQLite's own.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DamagedWALTests {
  private static let frame = 24 + 2_048
  let folder: Folder
  /// The files as a crash leaves them.
  let files: StoreFiles
  /// The users after each commit, with the size of the -wal file at that time.
  let states: [(size: Int, users: [User])]

  init() throws {
    folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "before") }
    store.close()
    (files, states) = try Self.writeUsers(to: folder)
  }

  private static func writeUsers(to folder: Folder) throws -> (StoreFiles, [(size: Int, users: [User])]) {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    defer { store.close() }
    var states = [(size: 0, users: try store.read { try $0.users() })]
    for number in 0..<8 {
      try store.write { users in
        let id = try users.add(name: "user \(number)")
        try users.set("note", of: id, to: .text(String(repeating: "\(number)", count: 500 * number)))
      }
      states.append((try folder.bytes(folder.database + "-wal").count, try store.read { try $0.users() }))
    }
    return (try StoreFiles(in: folder), states)
  }

  private var wal: Data { files.wal ?? Data() }
  private var frames: Int { (wal.count - 32) / Self.frame }

  /// The users after the last commit in the first `size` bytes of the -wal file.
  private func users(in size: Int) -> [User] { states.last { $0.size <= size }?.users ?? [] }

  private func survey(_ changed: StoreFiles) throws -> Survey {
    try changed.place(in: folder)
    let survey = try Survey(folder.database)
    // The last connection to close has copied the -wal file into the database, which now holds the state that was read.
    #expect(try StoreFiles(in: folder).wal == nil)
    #expect(try Survey(folder.database).users == survey.users, "reading changed the records")
    return survey
  }

  @Test func `a truncated -wal file gives the state after the last commit in it`() throws {
    #expect(frames > 20)
    let boundaries = (0...frames).map { 32 + $0 * Self.frame }
    for size in [0, 1, 31] + boundaries.flatMap({ [$0, $0 + 24, $0 + 1_000] }) where size <= wal.count {
      var cut = files
      cut.wal = wal.prefix(size)
      let survey = try survey(cut)
      #expect(survey.isSound && survey.users == users(in: size), "\(size) of \(wal.count) bytes: \(survey)")
    }
  }

  @Test func `a flipped bit ends the -wal file before the commit that contains it`() throws {
    var generator = SplitMix64(seed: Seed.base)
    for frame in 0..<frames {
      var changed = files
      let start = 32 + frame * Self.frame
      let place = start + Int.random(in: 0..<Self.frame, using: &generator)
      changed.wal?[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      let survey = try survey(changed)
      #expect(
        survey.isSound && survey.users == users(in: start), "USERSTORE_SEED=\(Seed.base), byte \(place): \(survey)")
    }
  }

  @Test func `a store with a truncated -wal file can be written to`() throws {
    for size in [0, 32, 32 + Self.frame * (frames / 2), wal.count - 1] {
      var cut = files
      cut.wal = wal.prefix(size)
      try cut.place(in: folder)
      let store = try folder.open { $0.watchesOtherProcesses = false }
      try store.write { try $0.add(name: "new") }
      #expect(try store.read { try $0.users() }.dropLast() == users(in: size)[...])
      store.close()
      #expect(try Survey(folder.database).isSound)
    }
  }

  @Test func `the -wal file of another store gives a committed state, or is noticed`() throws {
    let other = try Folder()
    let store = try other.open { $0.watchesOtherProcesses = false }
    for number in 0..<60 { try store.write { try $0.add(name: "other \(number)") } }
    store.close()
    let (otherFiles, otherStates) = try Self.writeUsers(to: other)
    for (database, wal) in [(files.database, otherFiles.wal), (otherFiles.database, files.wal)] {
      let survey = try survey(StoreFiles(database: database, wal: wal))
      let known = states.map(\.users) + otherStates.map(\.users)
      #expect(survey.isAlarmed || known.contains { $0 == survey.users }, "\(survey)")
    }
  }

  @Test func `a wrong -shm file is rebuilt`() throws {
    let other = try Folder()
    let open = try other.open { $0.watchesOtherProcesses = false }
    try open.write { try $0.add(name: "other") }
    let foreign = try other.bytes(other.database + "-shm")
    open.close()
    let random = Data((0..<32_768).map { _ in UInt8.random(in: .min ... .max) })
    for shm in [Data(), Data([1]), random, foreign, foreign + random] {
      try files.place(in: folder)
      try shm.write(to: URL(filePath: folder.database + "-shm"))
      let survey = try Survey(folder.database)
      #expect(survey.isSound && survey.users == states.last?.users, "\(shm.count) bytes: \(survey)")
      try folder.open { $0.watchesOtherProcesses = false }.close()
    }
  }

  @Test func `reading never replays a foreign rollback journal`() throws {
    let foreign = try hotJournal()
    for journal in [Data(), Data("no journal".utf8), Data(repeating: 0xFF, count: 5_000), foreign] {
      try files.place(in: folder)
      try journal.write(to: URL(filePath: folder.database + "-journal"))
      let survey = try Survey(folder.database)
      #expect(try StoreFiles(in: folder) == files, "\(journal.count) bytes of a journal changed the file")
      #expect(survey.isAlarmed || survey.users == states.last?.users, "\(journal.count) bytes: \(survey)")
    }
  }

  /// The journal of a program that is killed inside a transaction of its own database.
  private func hotJournal() throws -> Data {
    let other = try Folder()
    _ = try? other.python(
      """
      db.execute('PRAGMA cache_size = 1'); db.execute('CREATE TABLE t (x)')
      db.executemany('INSERT INTO t VALUES (?)', [('x' * 900,)] * 50)
      db.execute('BEGIN'); db.execute("UPDATE t SET x = x || 'y'"); os.kill(os.getpid(), signal.SIGKILL)
      """)
    let journal = try other.bytes(other.database + "-journal")
    #expect(journal.count > 2_000)
    return journal
  }
}
