import TestSupport
import Testing

@testable import UserStore

/// The order of writers: `WriteLine` against a model that applies the rules to a list.
@Suite(.bounded, .serialized) struct WriteLineTests {
  /// The waiting writers in the order of arrival, and the state of the turn.
  private struct Model {
    enum Kind {
      case joining, alone, task
    }

    var waiting: [(name: String, kind: Kind)] = []
    var isTaken = false
    var isWorkerAway = false
    var atTurn: Set<String> = []

    mutating func begin() {
      isTaken = true
      atTurn = Set(waiting.map(\.name))
    }

    /// The first writer that can run: no task while the store's thread is busy.
    func first(isWorker: Bool = false) -> Int? {
      waiting.firstIndex { $0.kind != .task || isWorker || !isWorkerAway }
    }

    mutating func take(_ index: Int) -> String {
      let taken = waiting.remove(at: index)
      if taken.kind == .task { isWorkerAway = true }
      return taken.name
    }
  }

  private struct Run {
    var line = WriteLine()
    var model = Model()
    var names: [ObjectIdentifier: String] = [:]
    var count = 0

    mutating func arrive(_ kind: Model.Kind) {
      count += 1
      let name = "\(count)"
      let waiter: WriteLine.Waiter
      switch kind {
      case .task:
        let task = AwaitedWrite(
          origin: nil, body: { _ in }, finish: { _ in }, serve: { _, _ in })
        (waiter, names[ObjectIdentifier(task)]) = (.task(task), name)
      case .joining, .alone:
        let place = WaitingWriter()
        (waiter, names[ObjectIdentifier(place)]) = (.thread(place, joins: kind == .joining), name)
      }
      keep.append(waiter)
      let entrance = line.enter(waiter)
      if !model.isTaken, !(kind == .task && model.isWorkerAway) {
        #expect(entrance == .turn)
        model.begin()
        if kind == .task { model.isWorkerAway = true }
      } else {
        #expect(entrance == .wait)
        model.waiting.append((name, kind))
      }
    }

    /// Retained, so that no two waiters have the same identity.
    private var keep: [WriteLine.Waiter] = []

    func name(_ waiter: WriteLine.Waiter?) -> String? {
      switch waiter {
      case .thread(let place, _): names[ObjectIdentifier(place)]
      case .task(let task): names[ObjectIdentifier(task)]
      case nil: nil
      }
    }

    mutating func next(after size: Int, isWorker: Bool) {
      let index = model.first(isWorker: isWorker).flatMap { index in
        size < WriteLine.groupLimit && model.waiting[index].kind != .alone ? index : nil
      }
      let upcoming = line.upcoming(after: size - 1, isWorker: isWorker).flatMap { names[ObjectIdentifier($0)] }
      #expect(upcoming == index.flatMap { model.waiting[$0].kind == .joining ? model.waiting[$0].name : nil })
      if index != nil, isWorker { model.isWorkerAway = false }
      let expected = index.map { model.take($0) }
      #expect(name(line.next(after: size, isWorker: isWorker)) == expected)
    }

    mutating func pass() {
      let index = model.first()
      if index == nil { model.isTaken = false } else { model.begin() }
      let expected = index.map { model.take($0) }
      #expect(name(line.pass()) == expected)
    }

    mutating func workerReturned() {
      model.isWorkerAway = false
      var expected: String?
      if !model.isTaken, let index = model.waiting.firstIndex(where: { $0.kind == .task }) {
        model.begin()
        expected = model.take(index)
      }
      #expect(name(line.workerReturned()) == expected)
    }

    mutating func removeEarlier() {
      let expected = Set(model.waiting.map(\.name)).intersection(model.atTurn)
      model.waiting.removeAll { expected.contains($0.name) }
      #expect(Set(line.removeEarlier().compactMap { name($0) }) == expected)
    }
  }

  @Test(arguments: 0..<50) func `random arrivals and turns follow the rules`(number: UInt64) {
    let seed = Seed.base &+ number
    var random = SplitMix64(seed: seed)
    var run = Run()
    for _ in 0..<400 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3: run.arrive(random.choose(.joining, .joining, .alone, .task, .task))
      case 4, 5:
        if run.model.isTaken {
          run.next(
            after: random.choose(1, 2, 63, 64), isWorker: run.model.isWorkerAway && Bool.random(using: &random))
        }
      case 6, 7: if run.model.isTaken { run.pass() }
      case 8: if run.model.isWorkerAway { run.workerReturned() }
      default: if run.model.isTaken, random.oneIn(4) { run.removeEarlier() }
      }
      #expect(run.line.count == run.model.waiting.count)
      // If no writer has the turn, no writer that could run waits.
      #expect(run.model.isTaken || run.model.first() == nil, "seed \(seed)")
    }
    while run.model.isTaken { run.pass() }
    run.workerReturned()
    while run.model.isTaken {
      run.pass()
      run.workerReturned()
    }
    #expect(run.line.count == 0, "seed \(seed)")
  }

  @Test func `a thread that is woken early continues to wait for its message`() async {
    let place = WaitingWriter()
    async let message = place.wait()
    for _ in 0..<1_000 { place.wakeEarly() }
    place.send(.over(StoreError(.closed, "the message")))
    guard case .over(let error?) = await message else {
      Issue.record("the thread received another message")
      return
    }
    #expect(error.message == "the message")
  }

  @Test func `closing returns all waiting writers, and new writers are refused`() {
    var line = WriteLine()
    #expect(line.enter(nil) == .turn)
    #expect(line.enter(nil) == .wait)
    for _ in 0..<3 { #expect(line.enter(.thread(WaitingWriter(), joins: true)) == .wait) }
    #expect(line.close().count == 3)
    #expect(line.enter(nil) == .closed)
    #expect(line.pass() == nil)
    #expect(line.count == 0)
  }
}
