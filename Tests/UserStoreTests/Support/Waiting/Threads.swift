import Testing

@testable import UserStore

/// Threads of the operating system, because code that blocks must not run on the threads of tasks.
enum Threads {
  /// Starts a thread, which you wait for with `join`.
  static func start(_ body: @escaping @Sendable () throws -> Void) throws -> Running {
    let running = Running()
    try SystemThread.start(named: "test") { running.run(body) }
    return running
  }

  /// Runs `body` on `count` threads at the same time, and waits for all of them.
  static func run(_ count: Int, _ body: @escaping @Sendable (_ index: Int) throws -> Void) throws {
    let start = Gate()
    let all = try (0..<count).map { index in
      try Threads.start {
        start.wait()
        try body(index)
      }
    }
    start.open()
    for thread in all { try thread.join() }
  }

  final class Running: Sendable {
    private let end = Recorder<Result<Void, any Error>>()

    func join(sourceLocation: SourceLocation = #_sourceLocation) throws {
      end.wait(for: 1, sourceLocation: sourceLocation)
      try end.all.first?.get()
    }

    /// The asynchronous form of `join`.
    ///
    /// - Throws: The error of the thread's body; `CancellationError` if the task is canceled before the thread ends.
    func joined() async throws {
      await end.reached(1)
      guard let result = end.all.first else { throw CancellationError() }
      try result.get()
    }

    fileprivate func run(_ body: () throws -> Void) { end.record(Result { try body() }) }
  }
}
