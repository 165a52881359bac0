import Testing

@testable import UserStore

/// Canceling a task that awaits values.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CancellationTests {
  @Test func `canceling a task that waits ends it and its subscription immediately`() async {
    let (source, signal) = Signal<Int>.make()
    let received = Recorder<Int>()
    let task = Task {
      var iterator = signal.values.makeAsyncIterator()
      received.record(1)
      let value = await iterator.next()
      #expect(source.hub.count == 0)
      #expect(await iterator.next() == nil)
      return value
    }
    await received.reached(1)
    task.cancel()
    #expect(await task.value == nil)
    source.send(1)
  }

  @Test func `a task that is already canceled receives nothing, although there is a value`() async {
    let (source, value) = Listenable.make(1)
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      var iterator = value.values.makeAsyncIterator()
      return await iterator.next()
    }
    #expect(await task.value == nil)
    #expect(source.hub.count == 0)
  }

  @Test func `a task that is canceled while a value is on its way receives nothing`() async throws {
    let (source, signal) = Signal<Int>.make()
    let (inside, mayContinue) = (Recorder<Void>(), Gate())
    let received = Recorder<Int>()
    let values = signal.map { value in
      inside.record(())
      mayContinue.wait()
      return value
    }.values
    let task = Task {
      var iterator = values.makeAsyncIterator()
      received.record(0)
      return await iterator.next()
    }
    await received.reached(1)
    let sender = try Threads.start { source.send(1) }
    await inside.reached(1)
    task.cancel()
    #expect(await task.value == nil)
    mayContinue.open()
    try await sender.joined()
  }

  @Test(arguments: [true, false])
  func `a listener cancels the task that waits, in the round that wakes it`(_ isBefore: Bool) async {
    let board = Board()
    let value = board.listenable("x")
    let task = Lock<Task<[Int], Never>?>(nil)
    let ready = Recorder<Int>()
    if isBefore { board.hub.bind("cancels", to: "x") { _ in task.withLock { $0 }?.cancel() } }
    let consumer = Task {
      var received: [Int] = []
      for await value in value.values {
        received.append(value)
        ready.record(value)
      }
      return received
    }
    task.withLock { $0 = consumer }
    await ready.reached(1)
    if !isBefore { board.hub.bind("cancels", to: "x") { _ in task.withLock { $0 }?.cancel() } }
    board.post("x", 1)
    let received = await consumer.value
    #expect(received == [0] || !isBefore && received == [0, 1])
    #expect(board.hub.count == 1)
  }

  /// A cancellation handler runs under the task's own lock, and so do the deinitializers of what it releases.
  @Test func `a value whose release cancels the task again causes no deadlock`() async {
    final class Canceler: Sendable {
      let task = Lock<Task<Void, Never>?>(nil)
      deinit { task.withLock { $0 }?.cancel() }
    }
    let (source, signal) = Signal<Canceler>.make()
    let (begun, mayContinue) = (Recorder<Int>(), Recorder<Int>())
    let task = Task {
      var iterator = signal.values.makeAsyncIterator()
      begun.record(1)
      await Task.detached { await mayContinue.reached(1) }.value
      #expect(await iterator.next() == nil)
    }
    await begun.reached(1)
    do {
      let value = Canceler()
      value.task.withLock { $0 = task }
      source.send(value)
    }
    task.cancel()
    mayContinue.record(1)
    await task.value
  }

  @Test func `three threads send, end and cancel at the same time, a thousand times`() async throws {
    for round in 0..<1_000 {
      let (source, value) = Listenable.make(0)
      let values = value.values
      let ready = Recorder<Int>()
      let consumer = Task {
        var last = -1
        for await value in values {
          last = value
          ready.record(value)
        }
        ready.record(-1)
        return last
      }
      await ready.reached(1)
      let start = Gate()
      let actions: [@Sendable () -> Void] = [
        { source.send(1) }, { consumer.cancel() }, { if round % 2 == 0 { source.end() } },
      ]
      let threads = try actions.map { action in
        try Threads.start {
          start.wait()
          action()
        }
      }
      start.open()
      let last = await consumer.value
      #expect(last == 0 || last == 1)
      for thread in threads { try await thread.joined() }
      #expect(source.hub.count == 0)
    }
  }
}
