import TestSupport
import Testing

@testable import UserStore

@Suite(.timeLimit(.minutes(5))) struct BufferedRoundsTests {
  let board = Board()

  @Test func `a consumer that keeps up misses nothing`() async {
    var iterator = board.hub.values(of: "x", bufferingUpTo: 3).makeAsyncIterator()
    for value in stride(from: 1, to: 300, by: 3) {
      for next in 0..<3 { board.post("x", value + next) }
      for next in 0..<3 { #expect(await iterator.next()?.line == "\(value + next)") }
    }
  }

  @Test func `the oldest are dropped, and a mark in their place says which`() async {
    var iterator = board.hub.values(of: "x", bufferingUpTo: 2).makeAsyncIterator()
    board.post("other", 0)
    for value in 2...3 { board.post("x", value) }
    board.post("other", 0)
    for value in 5...7 { board.post("x", value) }
    #expect(await iterator.next()?.line == "missed 2...5 (3)")
    #expect(await iterator.next()?.line == "6")
    #expect(await iterator.next()?.line == "7")
    board.post("x", 8)
    #expect(await iterator.next()?.line == "8")
  }

  @Test func `a consumer that is always too slow still gets every other time a round`() async {
    var iterator = board.hub.values(of: "x", bufferingUpTo: 1).makeAsyncIterator()
    board.post("x", 1)
    board.post("x", 2)
    var lines: [String?] = []
    for value in 3...6 {
      lines.append(await iterator.next()?.line)
      board.post("x", value)
    }
    #expect(lines == ["missed 1...1 (1)", "2", "missed 3...3 (1)", "4"])
  }

  @Test func `the end comes after what waits`() async {
    var iterator = board.hub.values(of: "x", bufferingUpTo: 1).makeAsyncIterator()
    board.post("x", 1)
    board.post("x", 2)
    board.hub.end()
    #expect(await iterator.next()?.line == "missed 1...1 (1)")
    #expect(await iterator.next()?.line == "2")
    #expect(await iterator.next() == nil)
    var late = board.hub.values(of: "x", bufferingUpTo: 1).makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test func `iterating registers a listener without a name, releasing the iterator removes it`() async {
    let rounds = board.hub.values(of: "x", bufferingUpTo: 1)
    #expect(board.hub.count == 0)
    var first: BufferedRounds<Note>.Iterator? = rounds.makeAsyncIterator()
    var second = rounds.makeAsyncIterator()
    #expect(board.hub.count == 2 && board.hub.names == [])
    board.post("x", 1)
    #expect(await first?.next()?.line == "1")
    first = nil
    #expect(board.hub.count == 1)
    #expect(await second.next()?.line == "1")
  }

  @Test func `a buffer without room is refused`() async {
    await #expect(processExitsWith: .failure) {
      _ = Board().hub.values(of: "x", bufferingUpTo: 0)
    }
  }

  @Test(arguments: 0..<30)
  func `delivered and missed are together all, in order`(_ number: UInt64) async {
    let seed = Seed.base &+ number
    var random = SplitMix64(seed: seed)
    let board = Board()
    let limit = Int.random(in: 1...random.choose(2, 5, 100), using: &random)
    var iterator = board.hub.values(of: "x", bufferingUpTo: limit).makeAsyncIterator()
    var covered: Int128 = 0
    var isComplete = true
    func cover(_ round: BufferedRound<Note>?) {
      guard let round else { return }
      let (first, last, count) = round.range
      if first != covered + 1 || count != Int(last - first) + 1 { isComplete = false }
      covered = last
    }
    for _ in 0..<50 {
      for _ in 0..<Int.random(in: 0...random.choose(2, 10, 2 * limit), using: &random) { board.post("x", 0) }
      // One that is promised and a mark may wait beside what the buffer holds.
      let waiting = min(Int(board.position - covered), limit)
      for _ in 0..<Int.random(in: 0...waiting, using: &random) { cover(await iterator.next()) }
    }
    board.hub.end()
    while let round = await iterator.next() { cover(round) }
    #expect(isComplete && covered == board.position, "USERSTORE_SEED=\(seed), limit \(limit)")
  }

  @Test func `the same with threads that send while it is awaited`() async throws {
    let board = board
    let rounds = board.hub.values(of: "x", bufferingUpTo: 4)
    let ready = Recorder<Int>()
    let consumer = Task {
      var (covered, delivered, isComplete): (Int128, Int, Bool) = (0, 0, true)
      var iterator = rounds.makeAsyncIterator()
      ready.record(1)
      while let round = await iterator.next() {
        let (first, last, count) = round.range
        if first != covered + 1 || count != Int(last - first) + 1 { isComplete = false }
        covered = last
        if case .next = round { delivered += 1 }
      }
      return (covered, delivered, isComplete)
    }
    await ready.heard(1)
    try await Task.detached { try Threads.run(3) { _ in for value in 0..<2_000 { board.post("x", value) } } }.value
    board.hub.end()
    let (covered, delivered, isComplete) = await consumer.value
    #expect(isComplete && covered == 6_000 && delivered > 0)
  }

  @Test func `no more waits in memory than the buffer holds`() async {
    let (source, _) = Signal<Token>.make()
    guard let hub = source.hub else { return }
    let living = Recorder<Weak>()
    var iterator = hub.values(of: .all, bufferingUpTo: 3).makeAsyncIterator()
    for _ in 0..<500 {
      let token = Token()
      living.record(Weak(token))
      source.send(token)
    }
    #expect(living.all.count { $0.token != nil } == 3)
    _ = await iterator.next()
    #expect(living.all.count { $0.token != nil } == 3)
  }

  private struct Weak: Sendable {
    weak let token: Token?
    init(_ token: Token) { self.token = token }
  }
}

/// What the store's consumers are told.
@Suite(.timeLimit(.minutes(5))) struct MissedChangesTests {
  @Test func `a mark says which revisions were missed, and the log still has them`() async throws {
    let store = try UserStore.inMemory()
    let id = try await store.write { try $0.add(name: "0") }
    let start = try await store.read { try $0.cursor }
    var iterator = store.listeners.values(of: .user(id), bufferingUpTo: 2).makeAsyncIterator()
    for number in 1...5 { try await store.write { try $0.rename(id, to: "\(number)") } }
    let sets = try store.pastChanges(after: start)
    guard case .missed(let missed) = await iterator.next() else { Issue.record("no mark"); return }
    #expect((missed.first, missed.last) == (sets[0].revision, sets[2].revision))
    #expect(missed.count == 3 && missed.reset == nil)
    for set in sets[3...] {
      guard case .next(let next) = await iterator.next() else { Issue.record("no set"); return }
      #expect(next.lines == set.lines && next.revision == set.revision)
    }
    store.close()
    #expect(await iterator.next() == nil)
  }

  @Test func `a mark does not hide that the log began anew`() async throws {
    let cursor = Cursor(epoch: 1, revision: 9, nonce: 1)
    let ordinary = ChangeSet(cursor: cursor, origin: nil, isForeign: false, content: .held([]))
    let reset = ChangeSet(cursor: cursor, origin: nil, isForeign: true, content: .reset(.diverged))
    var missed = MissedChanges(ordinary)
    #expect(missed.reset == nil)
    missed.add(reset)
    missed.add(ordinary)
    #expect(missed.reset == .diverged && missed.count == 3)
    #expect(MissedChanges(reset).reset == .diverged)
  }

  @Test func `an iteration does not keep the store, and ends with it`() async throws {
    var store: UserStore? = try UserStore.inMemory()
    weak let kept = store
    var iterator = store?.listeners.values(of: .everything, bufferingUpTo: 2).makeAsyncIterator()
    store = nil
    #expect(kept == nil)
    #expect(await iterator?.next() == nil)
  }
}

extension BufferedRound where Content.Missed == MissedRounds<Content> {
  var range: (first: Int128, last: Int128, count: Int) {
    switch self {
    case .next(let content): (content.position, content.position, 1)
    case .missed(let missed): (missed.first, missed.last, missed.count)
    }
  }

  var line: String {
    switch self {
    case .next(let content): "\(content.position)"
    case .missed(let missed): "missed \(missed.first)...\(missed.last) (\(missed.count))"
    }
  }
}
