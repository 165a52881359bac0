import Testing

@testable import UserStore

/// One write is one change set: in memory, in a file, and in a temporary file.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct WriteTests {
  enum Kind: CaseIterable {
    case memory, file, temporary
  }

  private func withStore(_ kind: Kind, _ body: (UserStore) throws -> Void) throws {
    switch kind {
    case .memory: try body(UserStore.forTests())
    case .temporary: try body(UserStore.temporary())
    case .file:
      let folder = try Folder()
      let store = try folder.open()
      try body(store)
      store.close()
      #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
    }
  }

  @Test(arguments: Kind.allCases)
  func `a write is one set with exact old and new values, in order, with its origin`(_ kind: Kind) throws {
    try withStore(kind) { store in
      let sets = Recorder<ChangeSet>()
      store.listeners.bind("test", to: .everything) { sets.record($0) }
      let zoe = try store.write(origin: "first") { transaction in
        let zoe = try transaction.add(name: "Zoë", hairColor: Color("#a52a2a"))
        try transaction.set(.age, of: zoe, to: 7)
        return zoe
      }
      try store.write { transaction in
        try transaction.rename(zoe, to: "Zoe")
        try transaction.set(.hairColor, of: zoe, to: nil)
        try transaction.set(.age, of: zoe, to: 8)
      }
      try store.write(origin: "last") { try $0.remove(zoe) }
      #expect(
        sets.all.map(\.lines) == [
          ["added 1 name - 'Zoë'", "added 1 hair_color - '#a52a2a'", "updated 1 age - 7"],
          ["updated 1 name 'Zoë' 'Zoe'", "updated 1 hair_color '#a52a2a' -", "updated 1 age 7 8"],
          ["removed 1 name 'Zoe' -", "removed 1 hair_color - -", "removed 1 age 8 -"],
        ])
      #expect(sets.all.map(\.origin) == ["first", nil, "last"])
      #expect(sets.all.allSatisfy { !$0.isForeign && $0.discontinuity == nil })
      #expect(zip(sets.all, sets.all.dropFirst()).allSatisfy { $0.revision < $1.revision })
      #expect(try store.read { try $0.cursor } == sets.all.last?.cursor)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a write that throws leaves nothing behind, and later writes succeed`(_ kind: Kind) throws {
    try withStore(kind) { store in
      let sets = Recorder<[String]>()
      store.listeners.bind("test", to: .everything) { sets.record($0.lines) }
      let before = try store.read { try $0.cursor }
      #expect(throws: Refusal.self) {
        try store.write { transaction in
          try transaction.add(name: "a")
          throw Refusal()
        }
      }
      #expect(try store.read { try $0.count() } == 0)
      #expect(try store.read { try $0.cursor } == before)
      // PostgreSQL does not give the id of a write that was rolled back again.
      let id = try store.write { try $0.add(name: "b") }
      #expect(sets.all == [["added \(id) name - 'b'", "added \(id) hair_color - -"]])
    }
  }

  @Test(arguments: Kind.allCases)
  func `a write that changes nothing has no set and no revision`(_ kind: Kind) throws {
    try withStore(kind) { store in
      let zoe = try store.write { try $0.add(name: "Zoë") }
      let sets = Recorder<[String]>()
      store.listeners.bind("test", to: .everything) { sets.record($0.lines) }
      let before = try store.read { try $0.cursor }
      try store.write { try $0.rename(zoe, to: "Zoë") }
      try store.write { _ in }
      try store.write { _ = try $0.user(zoe) }
      #expect(sets.all == [])
      #expect(try store.read { try $0.cursor } == before)
      #expect(try store.page(after: nil).count == 1)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a change that the same write reverses is delivered as two changes`(_ kind: Kind) throws {
    try withStore(kind) { store in
      let sets = Recorder<[String]>()
      let zoe = try store.write { try $0.add(name: "a") }
      store.listeners.bind("test", to: .everything) { sets.record($0.lines) }
      try store.write { transaction in
        try transaction.rename(zoe, to: "b")
        try transaction.rename(zoe, to: "a")
      }
      #expect(sets.all == [["updated 1 name 'a' 'b'", "updated 1 name 'b' 'a'"]])
    }
  }

  @Test func `nested reads and writes are refused in every combination, and nothing is lost`() throws {
    let store = try UserStore.temporary()
    let zoe = try store.write { try $0.add(name: "a") }
    #expect(code { try store.write { _ in try store.write { _ in } } } == .nested)
    #expect(code { try store.write { _ in try store.read { _ in } } } == .nested)
    #expect(code { try store.read { _ in try store.write { _ in } } } == .nested)
    #expect(code { try store.read { _ in try store.read { _ in } } } == .nested)
    try store.write { transaction in
      try transaction.rename(zoe, to: "b")
      #expect(code { try store.read { _ in } } == .nested)
    }
    #expect(try store.read { try $0.value(.name, of: zoe) } == "b")
  }

  @Test func `transactions of two stores can be nested, and each store calls its listeners`() throws {
    let (left, right) = (try UserStore.forTests(), try UserStore.forTests())
    let received = Recorder<String>()
    let writing = ObjectIdentifier(DeliveryThread.current)
    let isInside = Lock(false)
    let calledInside = Recorder<String>()
    for (name, store) in [("left", left), ("right", right)] {
      store.listeners.bind("listener", to: .everything) { _ in
        // The store's watcher may deliver at any time, on its own thread.
        let isHere = ObjectIdentifier(DeliveryThread.current) == writing
        if isHere, isInside.withLock({ $0 }) { calledInside.record(name) }
        received.record(name)
      }
    }
    try left.write { transaction in
      isInside.withLock { $0 = true }
      try transaction.add(name: "a")
      try right.write { try $0.add(name: "b") }
      isInside.withLock { $0 = false }
    }
    #expect(calledInside.all == [], "a thread calls no listener inside a transaction")
    #expect(received.all.sorted() == ["left", "right"])
    try left.read { _ in _ = try right.write { try $0.add(name: "c") } }
    #expect(received.all.count == 3)
    #expect(throws: Refusal.self) {
      try left.write { _ in
        try right.write { try $0.add(name: "d") }
        throw Refusal()
      }
    }
    #expect(received.all.count == 4)
  }

  @Test func `a listenable that is bound inside a read delivers its first value after the read`() throws {
    let (left, right) = (try UserStore.forTests(), try UserStore.forTests())
    let zoe = try right.write { try $0.add(name: "a") }
    let name = try right.listenable(.name, of: zoe)
    let received = Recorder<String?>()
    try left.read { _ in
      name.bindAndFire("test") { received.record($0) }
      #expect(received.count == 0)
    }
    #expect(received.all == ["a"])
  }

  @Test func `a write transaction has the changes that it has made so far`() throws {
    let store = try UserStore.forTests()
    try store.write { try $0.add(name: "before") }
    try store.write { transaction in
      #expect(try transaction.pendingChanges.isEmpty)
      for number in 0..<600 { try transaction.add(name: "\(number)") }
      #expect(try transaction.pendingChanges.count == 1_200)
      #expect(try transaction.pendingChanges.last?.attribute == "hair_color")
    }
  }

  @Test func `every later call on a closed store throws closed`() async throws {
    let store = try UserStore.temporary()
    let cursor = try await store.read { try $0.cursor }
    await store.close()
    await store.close()
    #expect(code { try store.write { try $0.add(name: "a") } } == .closed)
    #expect(code { try store.read { try $0.count() } } == .closed)
    #expect(await awaitedCode { try await store.write { try $0.add(name: "a") } } == .closed)
    #expect(await awaitedCode { try await store.read { try $0.count() } } == .closed)
    #expect(code { try store.page(after: cursor) } == .closed)
    #expect(code { try store.listenable(.name, of: User.ID(1)) } == .closed)
  }

  @Test func `a temporary store removes its folder`() throws {
    var store: UserStore? = try UserStore.temporary()
    let folder = Files.split(try #require(store?.path)).folder
    try store?.write { try $0.add(name: "a") }
    #expect(try Files.kind(of: folder + "/users.db") == .regular)
    store?.close()
    store = nil
    #expect(try Files.kind(of: folder) == .missing)
  }
}
