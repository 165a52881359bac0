extension WorkerThreads {
  /// Runs `body` on one of the threads, and returns its result.
  ///
  /// - Throws: `CancellationError` if the task is canceled before `body` starts, `StoreError.Code.closed` after `stop`, and what
  ///   `body` throws.
  func perform<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    let waiting = Lock(Waiting<Result>.new)
    let job = AwaitedJob(body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCanceled = waiting.withLock { $0.begin(continuation) }
        if isCanceled { return continuation.resume(throwing: CancellationError()) }
        let refusal = refusal(of: {
          guard let task = waiting.withLock({ $0.end() }) else { return }
          task.resume(with: job.result())
        })
        if let refusal { waiting.withLock { $0.end() }?.resume(throwing: refusal) }
      }
    } onCancel: {
      waiting.withLock { $0.end() }?.resume(throwing: CancellationError())
    }
  }

  /// Runs `body` on one of the threads, even if the task is canceled, and returns its result.
  ///
  /// - Throws: `StoreError.Code.closed` after `stop`, and what `body` throws.
  func complete<Result: Sendable>(
    _ body: @escaping @Sendable () throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let job = AwaitedJob(body)
    let result = await withCheckedContinuation { continuation in
      let refusal = refusal(of: { continuation.resume(returning: job.result()) })
      if let refusal { continuation.resume(returning: .failure(refusal)) }
    }
    return try result.get()
  }

  /// Runs `body` on a thread of its own, which then ends, even if the task is canceled.
  static func complete<Result: Sendable>(
    onThread name: StaticString, _ body: @escaping @Sendable () throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let thread = WorkerThreads(name: name, limit: 1)
    defer { thread.stop() }
    return try await thread.complete(body)
  }

  /// Appends a job, or returns the reason why it will not run.
  private func refusal(of job: @escaping Job) -> StoreError? {
    do { return try run(job) ? nil : StoreError(.closed, "the store is closed") } catch {
      return StoreError(error)
    }
  }
}

/// The closure of a job, released before its task resumes: otherwise, a thread of a store might be the last to release the
/// store, close it, and wait for itself.
private final class AwaitedJob<Result: Sendable, Failure: Error>: Sendable {
  private let body: Lock<(@Sendable () throws(Failure) -> Result)?>

  init(_ body: @escaping @Sendable () throws(Failure) -> Result) {
    self.body = Lock(body)
  }

  func result() -> Swift.Result<Result, Failure> {
    guard let body = body.withLock({ $0.take() }) else { preconditionFailure("a job runs once") }
    return Swift.Result(catching: body)
  }
}

/// A task that awaits a job, until the job starts or the task is canceled: only the first of these resumes it.
private enum Waiting<Result: Sendable>: Sendable {
  typealias Continuation = CheckedContinuation<Result, any Error>

  case new
  case waiting(Continuation)
  case over

  /// Returns whether the task was canceled before it waited.
  mutating func begin(_ continuation: Continuation) -> Bool {
    if case .over = self { return true }
    self = .waiting(continuation)
    return false
  }

  mutating func end() -> Continuation? {
    defer { self = .over }
    if case .waiting(let continuation) = self { return continuation }
    return nil
  }
}
