import Testing

@testable import UserStore

/// A live query while it is read for the first time, and after reading has failed.
@Suite(.timeLimit(.minutes(5))) struct LiveQueryTests {
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

  init() throws { store = try UserStore.inMemory() }

  private func query(
    willLoad: @escaping @Sendable (Int) throws(StoreError) -> Bool = { _ in true },
    follow: @escaping @Sendable () throws(StoreError) -> Bool? = { true }
  ) -> LiveQuery {
    LiveQuery(
      Steps(willLoad: willLoad, follow: follow), ordinal: 1,
      StateAccess(reader: store.reader, publication: store.publication),
      { [errors] _, error in errors.record("\(error)") }, forget: { _ in })
  }

  private func set(at position: Int128, isDiscontinuity: Bool = false) throws -> FoldedSet {
    let cursor = try store.read { try $0.cursor }
    let content: ChangeSet.Content = isDiscontinuity ? .discontinuity(.diverged) : .held([])
    return FoldedSet(
      ChangeSet(cursor: cursor, origin: nil, isForeign: false, content: content, position: position))
  }

  @Test func `rounds that come while it is read are followed afterwards, unless it includes them`() throws {
    let (reading, mayContinue) = (Gate(), Gate())
    let query = query(willLoad: { _ in
      reading.open()
      mayContinue.wait()
      return true
    })
    let included = try set(at: store.publication.round(at: store.publication.position))
    let later = try set(at: included.position + 1)
    let loading = try Threads.start { try query.load() }
    reading.wait()
    query.receive(included, [])
    query.receive(later, [])
    mayContinue.open()
    try loading.join()
    let list: Listenable<[String]> = query.listenable()
    #expect(list.value == ["read", "followed"])
    query.receive(later, [])
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
    query.receive(try set(at: start + 1), [])
    #expect(errors.count == 1 && list.value == ["read"])
    fails.withLock { $0 = false }
    query.receive(try set(at: start + 2), [])
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
