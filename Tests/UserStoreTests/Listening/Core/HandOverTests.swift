import Testing

@testable import UserStore

/// Which thread delivers while others wait.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct HandOverTests {
  @Test func `a deliverer without a set of its own leaves the rest to a thread that waits`() throws {
    // Twenty runs, because the fault is a race: a thread that takes the turn back usually does so before the other wakes.
    for _ in 0..<20 { try handOver() }
  }

  private func handOver() throws {
    let hub = ListenerHub<Note> { _, _ in }
    let (isInside, mayContinue) = (Gate(), Gate())
    let threads = Recorder<ObjectIdentifier>()
    hub.bind("slow", to: "x") { note in
      threads.record(ObjectIdentifier(DeliveryThread.current))
      guard note.position == 1 else { return }
      isInside.open()
      mayContinue.wait()
    }
    _ = hub.append(note(1), cascade: nil)
    let helper = try Threads.start { hub.deliver(through: nil) }
    isInside.wait()
    let ticket = hub.append(note(2), cascade: nil)
    let waiter = Lock<ObjectIdentifier?>(nil)
    let waiting = try Threads.start {
      waiter.withLock { $0 = ObjectIdentifier(DeliveryThread.current) }
      hub.deliver(through: ticket)
    }
    // Polling, because nothing reports that a thread has begun to wait.
    while !hub.state.withLock({ $0.queue.hasWaiters }) { SystemThread.sleep(milliseconds: 1) }
    mayContinue.open()
    try waiting.join()
    try helper.join()
    #expect(threads.all.last == waiter.withLock { $0 })
  }

  private func note(_ position: Int128) -> Note { Note(position: position, values: ["x": 1]) }
}
