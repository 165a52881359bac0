import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct WorkerThreadsTests {
  @Test func `up to the limit, jobs run at the same time`() throws {
    let threads = WorkerThreads(name: "test", limit: 3)
    let (inside, mayEnd, ended) = (Recorder<Int>(), Gate(), Recorder<Int>())
    for job in 0..<5 {
      #expect(
        try threads.run {
          inside.record(job)
          mayEnd.wait()
          ended.record(job)
        })
    }
    inside.wait(for: 3)
    #expect(Set(inside.all) == [0, 1, 2], "the fourth job waits for a thread")
    mayEnd.open()
    ended.wait(for: 5)
    #expect(Set(ended.all) == Set(0..<5))
    threads.stop()
    threads.join()
  }

  @Test func `one thread runs jobs in order, and an idle thread is used again`() throws {
    let threads = WorkerThreads(name: "test", limit: 1)
    let jobs = Recorder<Int>()
    let used = Recorder<SystemThread.ID>()
    for job in 0..<1_000 {
      #expect(
        try threads.run {
          jobs.record(job)
          used.record(SystemThread.current)
        })
    }
    jobs.wait(for: 1_000)
    #expect(jobs.all == Array(0..<1_000) && Set(used.all).count == 1)
    threads.stop()
    threads.join()
  }

  @Test func `jobs from many threads all run once`() throws {
    let threads = WorkerThreads(name: "test", limit: 4)
    let jobs = Recorder<Int>()
    try Threads.run(4) { thread in
      for number in 0..<2_000 { _ = try threads.run { jobs.record(thread * 2_000 + number) } }
    }
    threads.stop()
    threads.join()
    #expect(jobs.all.sorted() == Array(0..<8_000))
  }

  @Test func `accepted jobs run before the threads end, and later ones are refused`() throws {
    let threads = WorkerThreads(name: "test", limit: 2)
    let (mayRun, ran) = (Gate(), Recorder<Int>())
    for job in 0..<4 {
      #expect(
        try threads.run {
          mayRun.wait()
          ran.record(job)
        })
    }
    threads.stop()
    #expect(try !threads.run { ran.record(-1) })
    mayRun.open()
    threads.join()
    #expect(Set(ran.all) == [0, 1, 2, 3])
  }

  @Test func `a job may stop and join its own threads`() throws {
    let threads = WorkerThreads(name: "test", limit: 2)
    let ended = Gate()
    #expect(
      try threads.run {
        threads.stop()
        threads.join()
        ended.open()
      })
    ended.wait()
  }

  // MARK: Awaiting

  @Test func `a task receives the result or the error of its job`() async throws {
    let threads = WorkerThreads(name: "test", limit: 1)
    struct Refusal: Error {}
    #expect(try await threads.perform { 7 } == 7)
    await #expect(throws: Refusal.self) { try await threads.perform { throw Refusal() } }
    #expect(
      await awaitedCode { try await threads.complete { () throws(StoreError) in throw StoreError(.busy, "") } } == .busy
    )
    threads.stop()
    #expect(await awaitedCode { try await threads.perform { 7 } } == .closed)
    #expect(await awaitedCode { try await threads.complete { () throws(StoreError) in 7 } } == .closed)
  }

  @Test func `a task that is canceled before its job starts ends at once, and the job never runs`() async throws {
    let threads = WorkerThreads(name: "test", limit: 1)
    let (mayEnd, ran) = (Gate(), Recorder<String>())
    #expect(try threads.run { mayEnd.wait() })
    let waiting = Task { try await threads.perform { ran.record("waiting") } }
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await threads.perform { ran.record("early") }
    }
    let complete = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await threads.complete { () throws(StoreError) in ran.record("complete") }
    }
    for task in [waiting, early, complete] { task.cancel() }
    await #expect(throws: CancellationError.self) { try await waiting.value }
    await #expect(throws: CancellationError.self) { try await early.value }
    mayEnd.open()
    try await complete.value
    #expect(ran.all == ["complete"])
    threads.stop()
  }

  @Test func `a job that has started is not ended by a cancellation`() async throws {
    let threads = WorkerThreads(name: "test", limit: 1)
    let (started, mayEnd) = (Recorder<Void>(), Gate())
    let task = Task {
      try await threads.perform {
        started.record(())
        mayEnd.wait()
        return 7
      }
    }
    await started.reached(1)
    task.cancel()
    mayEnd.open()
    #expect(try await task.value == 7)
    threads.stop()
  }
}
