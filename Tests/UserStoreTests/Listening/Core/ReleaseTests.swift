import Testing

@testable import UserStore

/// Nothing is released under the hub's lock: a deinitializer may dispose tokens, and would take the lock again.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ReleaseTests {
  @Test func `a listenable without references is released after its first value`() throws {
    let (first, second) = (try UserStore.forTests(), try UserStore.forTests())
    let (one, two) = (try first.write { try $0.add(name: "one") }, try second.write { try $0.add(name: "two") })
    let received = Recorder<String?>()
    first.listeners.bind("copy", to: .everything) { _ in
      try second.listenable(.name, of: two).bindAndFire("copy") { received.record($0) }
    }
    try first.write { try $0.rename(one, to: "changed") }
    #expect(received.all == ["two"])
  }

  private final class Screen: Sendable {
    let bag = TokenBag()
  }

  @Test func `an owner that disposes tokens in its deinitializer may be released while the hub looks for it`() throws {
    let hub = ListenerHub<Note> { _, _ in }
    let isDone = Lock(false)
    let counting = try Threads.start { while !isDone.withLock({ $0 }) { _ = hub.count } }
    for number in 0..<4_000 {
      let screen = Screen()
      hub.bind("screen \(number % 50)", to: "x", owner: screen) { _, _ in }.disposed(by: screen.bag)
    }
    isDone.withLock { $0 = true }
    try counting.join()
    #expect(hub.count == 0)
  }

  @Test func `listeners of released owners do not accumulate on topics without rounds`() {
    for live in [0, 100] {
      let hub = ListenerHub<Note> { _, _ in }
      let screens = (0..<live).map { _ in Screen() }
      for (number, screen) in screens.enumerated() {
        hub.bind("live", to: "topic \(number)", owner: screen) { _, _ in }
      }
      for number in 0..<1_000 { hub.bind("screen", to: "topic \(number)", owner: Screen()) { _, _ in } }
      let owned = hub.state.withLock { $0.registry.occupied.count { $0.slot.listener.conditions?.owner != nil } }
      #expect(owned < 200 + 2 * live)
      withExtendedLifetime(screens) {}
    }
  }
}
