import Testing

@testable import UserStore

/// A live query while it is read for the first time, and after reading has failed.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct LiveQueryTests {
  /// Records what it reads and follows, as a test asks it to.
  private struct Steps: LiveContent {
    struct Failure: Error {}

    var events: [String] = []
    var value: ErasedValue { ValueBox(events) }
    let willLoad: @Sendable (_ number: Int) throws(StoreError) -> Bool
    let follow: @Sendable () throws(StoreError) -> Bool?
    let loads = Recorder<Int>()

    var mentions: Mentions { Mentions(.always, shown: nil) }

    mutating func load(
      _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
    ) throws(StoreError) -> Bool {
      loads.record(loads.count)
      let isChanged = try willLoad(loads.count)
      events.append("read")
      return isChanged
    }

    mutating func apply(
      _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
    ) throws(StoreError) -> Bool? {
      guard let isChanged = try follow() else { return nil }
      events.append("followed")
      return isChanged
    }
  }

  private let store: UserStore
  private let errors = Recorder<String>()

  init() throws { store = try UserStore.forTests() }

  private func query(
    willLoad: @escaping @Sendable (Int) throws(StoreError) -> Bool = { _ in true },
    follow: @escaping @Sendable () throws(StoreError) -> Bool? = { true }, isForgotten: Bool = false
  ) -> LiveQuery {
    LiveQuery(
      Steps(willLoad: willLoad, follow: follow), ordinal: 1,
      StateAccess(reader: store.reader, publication: store.publication),
      { [errors] _, error in errors.record("\(error)") }, forget: { _ in isForgotten })
  }

  private func set(at position: Int128, isDiscontinuity: Bool = false) throws -> FoldedSet {
    let cursor = try store.read { try $0.cursor }
    let content: ChangeSet.Content = isDiscontinuity ? .discontinuity(.diverged) : .held([])
    return FoldedSet(
      ChangeSet(cursor: cursor, origin: nil, isForeign: false, content: content, position: position))
  }

  @Test func `counts that several threads open beside two writers miss nothing`() throws {
    let store = store
    let counts = Recorder<(condition: UserStore.Condition, count: Listenable<Int>)>()
    let users = try store.write { transaction in
      try (0..<4).map { try transaction.add(name: "user \($0)") }
    }
    let note = Attribute<Int>("note")
    try Threads.run(6) { thread in
      if thread < 2 {
        for number in 0..<200 { try store.write { try $0.set(note, of: users[thread], to: number % 3) } }
      } else {
        for number in 0..<100 {
          // Each a query of its own, so that each is read.
          let condition = note >= 1 || note == 1_000 * thread + number
          counts.record((condition, try store.liveCount(where: condition)))
        }
      }
    }
    let expected = try store.read { try $0.count(where: note >= 1) }
    for (_, count) in counts.all { #expect(count.value == expected) }
  }

  @Test func `rounds that come while it is read are followed afterwards, unless it includes them`() throws {
    let (reading, mayContinue) = (Gate(), Gate())
    let query = query(willLoad: { _ in
      reading.open()
      mayContinue.wait()
      return true
    })
    let included = try set(at: store.publication.round(at: store.publication.position))
    let (later, last) = (try set(at: included.position + 1), try set(at: included.position + 2))
    let loading = try Threads.start { try query.load() }
    reading.wait()
    query.receive(included, [])
    query.receive(later, [])
    query.receive(last, [])
    mayContinue.open()
    try loading.join()
    let list: Listenable<[String]> = query.listenable()
    #expect(list.value == ["read", "followed"], "both as one")
    query.receive(last, [])
    #expect(list.value == ["read", "followed"])
  }

  @Test func `an error is reported, and the next round is the occasion to read again`() throws {
    let fails = Lock(true)
    let query = query(follow: { () throws(StoreError) in
      if fails.withLock({ $0 }) { throw StoreError(.busy, "try later") }
      return true
    })
    try query.load()
    let list: Listenable<[String]> = query.listenable()
    let start = store.publication.round(at: store.publication.position)
    #expect(!query.receive(try set(at: start + 1), []), "it needs the next set")
    #expect(errors.count == 1 && list.value == ["read"])
    fails.withLock { $0 = false }
    #expect(query.receive(try set(at: start + 2), []))
    #expect(errors.count == 1 && list.value == ["read", "read"])
    query.receive(try set(at: start + 3), [])
    #expect(list.value == ["read", "read", "followed"])
  }

  @Test func `it is read again after a discontinuity, and where the log cannot be followed`() throws {
    let query = query(follow: { nil })
    try query.load()
    let list: Listenable<[String]> = query.listenable()
    let start = store.publication.round(at: store.publication.position)
    let discontinuity = try set(at: start + 1, isDiscontinuity: true)
    query.receive(discontinuity, discontinuity.deltas)
    query.receive(try set(at: start + 2), [])
    #expect(list.value == ["read", "read", "read"])
  }

  @Test(arguments: [true, false])
  func `a set is skipped by a query that was forgotten, and by no other that nobody holds`(isForgotten: Bool) throws {
    let query = query(isForgotten: isForgotten)
    try query.load()
    query.receive(try set(at: store.publication.round(at: store.publication.position) + 1), [])
    let list: Listenable<[String]> = query.listenable()
    #expect(list.value == (isForgotten ? ["read"] : ["read", "followed"]))
  }

  @Test func `several sets as one have the first old and the last new values`() throws {
    func change(_ user: Int64, _ attribute: AttributeName, _ old: StoredValue, _ new: StoredValue) -> Change {
      Change(
        kind: .updated, user: User.ID(user), attribute: attribute, old: old, new: new, timestamp: 0, sequence: 1)
    }
    let cursor = try store.read { try $0.cursor }
    func set(at position: Int128, _ changes: [Change]) -> FoldedSet {
      FoldedSet(
        ChangeSet(cursor: cursor, origin: nil, isForeign: false, content: .held(changes), position: position))
    }
    let sets = [
      set(at: 1, [change(1, "age", .integer(1), .integer(2)), change(2, "age", .null, .integer(5))]),
      set(at: 2, [change(1, "note", .null, .text("a")), change(1, "age", .integer(2), .integer(3))]),
    ]
    let deltas = try #require(FoldedSet.deltas(of: sets))
    #expect(deltas.map(\.id) == [User.ID(1), User.ID(2)])
    #expect(deltas[0].oldValue("age") == .integer(1) && deltas[0].newValue("age") == .integer(3))
    #expect(deltas[0].newValue("note") == .text("a") && deltas[1].newValue("age") == .integer(5))
    let all = FoldedSet(
      ChangeSet(cursor: cursor, origin: nil, isForeign: false, content: .discontinuity(.diverged), position: 3))
    #expect(FoldedSet.deltas(of: sets + [all]) == nil)
  }

  @Test func `what is read again and has not changed is delivered after a discontinuity and an error only`() throws {
    let fails = Lock(false)
    let query = query(
      willLoad: { _ in false },
      follow: { () throws(StoreError) in
        if fails.withLock({ $0 }) { throw StoreError(.busy, "try later") }
        return nil
      })
    try query.load()
    let list: Listenable<[String]> = query.listenable()
    let received = Recorder<Int>()
    list.bind("screen") { received.record($0.count) }
    let start = store.publication.round(at: store.publication.position)
    query.receive(try set(at: start + 1), [])
    #expect(received.all == [])
    let discontinuity = try set(at: start + 2, isDiscontinuity: true)
    query.receive(discontinuity, discontinuity.deltas)
    #expect(received.all == [3])
    fails.withLock { $0 = true }
    query.receive(try set(at: start + 3), [])
    #expect(errors.count == 1)
    query.receive(try set(at: start + 4), [])
    #expect(received.all == [3, 4])
  }

  @Test func `a query that cannot be read the first time is not kept`() throws {
    let query = query(willLoad: { (_) throws(StoreError) in throw StoreError(.busy, "try later") })
    #expect(code { try query.load() } == .busy)
  }
}
