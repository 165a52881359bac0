import Testing

@testable import UserStore

/// The promises “committed only”, “atomic” and “delivered before `write` returns”.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DeliveryTests {
  let store: UserStore
  let errors = Recorder<String>()
  let zoe: User.ID

  init() throws {
    var configuration = Configuration()
    configuration.roundLimit = 20
    configuration.onListenerError = { [errors] in errors.record("\($0 ?? "-"): \($1)") }
    store = try UserStore.forTests(configuration: configuration)
    zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("red")) }
  }

  @Test func `each listener receives its topic's part, in one round for each write`() throws {
    let received = Recorder<String>()
    let bob = try store.write { try $0.add(name: "Bob") }
    let topics: [(String, Topic)] = [
      ("all", .everything), ("zoe", .user(zoe)), ("names", .attribute(.name)),
      ("zoe's name", .attribute(.name, of: zoe)),
      ("bob's age", .attribute(.age, of: bob)),
    ]
    for (name, topic) in topics {
      store.listeners.bind(name, to: topic) { received.record("\(name): \($0.lines.count)") }
    }
    try store.write { transaction in
      try transaction.rename(zoe, to: "Z")
      try transaction.rename(bob, to: "B")
      try transaction.set(.age, of: zoe, to: 1)
    }
    #expect(received.all == ["all: 3", "zoe: 2", "names: 2", "zoe's name: 1"])
  }

  @Test func `when listeners run, the change is committed and every new value is stored`() throws {
    let (name, hair) = (try store.listenable(.name, of: zoe), try store.listenable(.hairColor, of: zoe))
    let received = Recorder<String>()
    let store = store
    let zoe = zoe
    let see: @Sendable () throws -> Void = {
      let committed = try store.read { try $0.value(.name, of: zoe) }
      received.record("\(name.value ?? "-") \(hair.value?.description ?? "-") \(committed ?? "-")")
    }
    name.bind("screen") { _ in try see() }
    hair.bind("screen") { _ in try see() }
    try store.write { transaction in
      try transaction.rename(zoe, to: "Zoe")
      try transaction.set(.hairColor, of: zoe, to: Color("#000001"))
    }
    #expect(received.all == ["Zoe #000001 Zoe", "Zoe #000001 Zoe"])
  }

  @Test func `a listenable is nil for an attribute that is not set and for a removed user`() throws {
    let age = try store.listenable(.age, of: zoe)
    let name = try store.listenable(.name, of: zoe)
    let received = Recorder<Int?>()
    age.bindAndFire("test") { received.record($0) }
    try store.write { try $0.set(.age, of: zoe, to: 3) }
    try store.write { try $0.unset(.age, of: zoe) }
    try store.write { try $0.set(.age, of: zoe, to: 4) }
    try store.write { try $0.remove(zoe) }
    #expect(received.all == [nil, 3, nil, 4, nil])
    #expect(name.value == nil && age.value == nil)
    #expect(try store.listenable(.name, of: User.ID(77)).value == nil)
  }

  @Test func `changes that are rolled back are not delivered`() throws {
    let received = Recorder<String?>()
    try store.listenable(.name, of: zoe).bind("test") { received.record($0) }
    let store = store
    let zoe = zoe
    #expect(throws: Refusal.self) {
      try store.write { transaction in
        try transaction.rename(zoe, to: "X")
        throw Refusal()
      }
    }
    #expect(received.count == 0)
  }

  @Test func `a listener's write commits immediately and is delivered after the present round`() throws {
    let received = Recorder<String>()
    let (store, zoe) = (store, zoe)
    let age = try store.listenable(.age, of: zoe)
    store.listeners.bind("first", to: .attribute(.age)) { _ in
      guard age.value == 1 else { return }
      try store.write { try $0.set(.age, of: zoe, to: 2) }
      received.record("committed \(try store.read { try $0.value(.age, of: zoe) } ?? 0), delivered \(age.value ?? 0)")
    }
    age.bind("second") { received.record("second \($0 ?? 0)") }
    try store.write { try $0.set(.age, of: zoe, to: 1) }
    #expect(received.all == ["committed 2, delivered 1", "second 1", "second 2"])
  }

  @Test func `write may return before a listener's answer is delivered, but not before it is committed`() throws {
    let (store, zoe) = (store, zoe)
    let age = try store.listenable(.age, of: zoe)
    let received = Recorder<Int?>()
    let (isInside, hasReturned) = (Gate(), Gate())
    age.bind("answers") { value in
      if value == 1 {
        isInside.open()
        // Polling, because nothing reports that a thread has begun to wait.
        while !store.listeners.hub.state.withLock({ $0.queue.hasWaiters }) { SystemThread.sleep(milliseconds: 1) }
        try store.write { try $0.set(.age, of: zoe, to: 3) }
      }
      // The other writer takes over the delivery of its own set and of the answer.
      if value == 2 { hasReturned.wait() }
      received.record(value)
    }
    let other = try Threads.start {
      isInside.wait()
      try store.write { try $0.set(.age, of: zoe, to: 2) }
    }
    try store.write { try $0.set(.age, of: zoe, to: 1) }
    #expect(received.all == [1])
    #expect(try store.read { try $0.value(.age, of: zoe) } == 3)
    hasReturned.open()
    try other.join()
    // The watcher may wait in the queue too, and take over the delivery of the answer.
    received.wait(for: 3)
    #expect(received.all == [1, 2, 3])
  }

  @Test func `a write beyond the round limit is not committed, and its error names the listeners`() throws {
    let (store, zoe) = (store, zoe)
    let age = try store.listenable(.age, of: zoe)
    let received = Recorder<Int>()
    for name in ["ping", "pong"] {
      age.bind(name) { value in
        let isMine = value.map { ($0 % 2 == 0) == (name == "ping") } ?? false
        if let value, isMine { try store.write { try $0.set(.age, of: zoe, to: value + 1) } }
      }
    }
    age.bind("counts") { received.record($0 ?? -1) }
    try store.write { try $0.set(.age, of: zoe, to: 0) }
    // The watcher may have taken over the delivery of the answers.
    received.wait(for: 21)
    #expect(received.all == Array(0...20), "everything that was committed was delivered")
    #expect(try store.read { try $0.value(.age, of: zoe) } == 20)
    #expect(errors.count == 1)
    #expect(errors.all.first?.contains("ping, pong") == true)
    // The next write outside of a listener starts a new cascade.
    try store.write { try $0.set(.age, of: zoe, to: 100) }
    #expect(try store.read { try $0.value(.age, of: zoe) } == 120)
  }

  @Test func `writes by listeners that change nothing cause no rounds, and do not count toward the limit`() throws {
    let (store, zoe) = (store, zoe)
    let written = Recorder<Int>()
    store.listeners.bind("idle", to: .everything) { _ in
      for step in 0..<50 {
        try store.write { try $0.rename(zoe, to: "same") }
        written.record(step)
      }
    }
    try store.write { try $0.rename(zoe, to: "same") }
    #expect(written.count == 50)
    #expect(errors.all == [])
  }

  @Test func `ten thousand answers are delivered if the limit allows them`() throws {
    var configuration = Configuration()
    configuration.roundLimit = 20_000
    let store = try UserStore.forTests(configuration: configuration)
    let zoe = try store.write { try $0.add(name: "a") }
    let age = try store.listenable(.age, of: zoe)
    let last = Gate()
    age.bind("counts") { value in
      if let value, value < 10_000 { try store.write { try $0.set(.age, of: zoe, to: value + 1) } }
      if value == 10_000 { last.open() }
    }
    try store.write { try $0.set(.age, of: zoe, to: 1) }
    // The thread that watches the server may deliver the round, and then the answers: a write waits for its own round only.
    if TestEngine.isPostgres { last.wait() }
    #expect(age.value == 10_000)
  }

  @Test func `with several threads, each change is delivered before its write returns, all in one order`() throws {
    let store = store
    let received = Recorder<Revision>()
    store.listeners.bind("order", to: .everything) { received.record($0.revision) }
    try Threads.run(6) { thread in
      let id = try store.write { try $0.add(name: "\(thread)") }
      let age = try store.listenable(.age, of: id)
      let seen = Lock(-1)
      age.bind("own") { value in seen.withLock { $0 = value ?? -1 } }
      for step in 0..<100 {
        try store.write { try $0.set(.age, of: id, to: step) }
        try #require(seen.withLock { $0 } == step)
      }
    }
    #expect(received.count == 606)
    #expect(zip(received.all, received.all.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `a commit that cannot be read for a listener bound during it is delivered with the next one`() throws {
    let received = Recorder<Int>()
    store.listeners.bind("late", to: .everything) { received.record($0.lines.count) }
    let connection = try #require(store.writer?.session)
    let head = store.publication.position
    // A database without a log stands in for one that cannot be read at the moment.
    let end = Cursor(epoch: head.epoch, revision: head.revision.rawValue + 1, nonce: 1)
    let session = SQLiteSession(try Connection.withTable())
    #expect(connection.publish(session, from: head, through: end, nil) == nil)
    #expect(store.publication.position == head)
    try store.write { try $0.rename(zoe, to: "Zoe") }
    #expect(received.all == [1])
  }

  @Test func `releasing a store deallocates it and releases what its listeners hold`() throws {
    var store: UserStore? = try UserStore.temporary()
    weak let weakStore = store
    var token: Token? = Token()
    weak let weakToken = token
    let zoe = try #require(try store?.write { try $0.add(name: "a") })
    let name = try store?.listenable(.name, of: zoe)
    name?.bindAndFire("test") { [token] _ in withExtendedLifetime(token) {} }
    try store?.write { try $0.rename(zoe, to: "b") }
    store?.close()
    (store, token) = (nil, nil)
    #expect(weakStore == nil)
    #expect(name?.value == "b")
    // The listenable still holds the hub, but the hub has ended and released its listeners.
    #expect(weakToken == nil)
    withExtendedLifetime(name) {}
  }
}
