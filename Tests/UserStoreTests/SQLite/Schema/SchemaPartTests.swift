import Testing

@testable import UserStore

/// Files with tables that only some have.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct SchemaPartTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
    try folder.open().write { try $0.add(name: "A") }
  }

  private func create(_ parts: SchemaPart...) throws {
    let connection = try Connection(path: folder.database, access: .readWrite, busyTimeout: 5_000)
    for part in parts { _ = try part.create(on: connection) }
  }

  @Test func `a store is opened and checked while another process adds and removes parts`() throws {
    let (parts, done) = ([SchemaPart.server, .decisions], Recorder<Bool>())
    let database = folder.database
    let other = try Threads.start {
      defer { done.record(true) }
      let connection = try Connection(path: database, access: .readWrite, busyTimeout: 5_000)
      for _ in 1...300 {
        for part in parts {
          try connection.execute("BEGIN IMMEDIATE", to: "test")
          if try !part.create(on: connection) { try part.drop(on: connection) }
          try connection.execute("COMMIT", to: "test")
        }
      }
    }
    while done.all.isEmpty {
      try folder.open().close()
      try folder.open { $0.access = .readOnly }.close()
      #expect(try UserStore.check(path: database).filter { $0.severity == .problem }.isEmpty)
    }
    try other.join()
  }

  @Test(arguments: [[SchemaPart.server], [.server, .decisions]], AdoptionTests.Maker.allCases)
  func `a copy of a server's file is adopted`(_ parts: [SchemaPart], _ maker: AdoptionTests.Maker) throws {
    for part in parts { try create(part) }
    let copy = try maker.copy(of: folder)
    #expect(try UserStore.adopt(path: copy, busyTimeout: .seconds(5), isKept: true))
    let store = try UserStore(path: copy)
    #expect(try store.read { try $0.users().map { try $0.name } } == ["A"])
    #expect(try store.check().filter { $0.severity == .problem }.isEmpty)
    for version in ["PRAGMA user_version", "SELECT identity FROM userstore_server"] {
      #expect(try folder.shell(version, copy) == folder.shell(version))
    }
  }

  @Test(arguments: [[SchemaPart.replica], [.replica, .outbox]])
  func `a copy of a replica is not adopted, and stays as it is`(_ parts: [SchemaPart]) throws {
    for part in parts { try create(part) }
    let copy = try AdoptionTests.Maker.clone.copy(of: folder)
    let bytes = try folder.bytes(copy)
    #expect(code { try UserStore.adopt(path: copy, busyTimeout: .seconds(5), isKept: true) } == .readOnlyReplica)
    #expect(try folder.bytes(copy) == bytes)
  }
}
