/// The writes that are awaited: run on the store's own thread, as many in one transaction as wait when it begins.
///
/// One sync of the disk then serves many. No delay is added: a write that comes alone goes alone.
final class WriteQueue: Sendable {
  /// How many share a transaction at most.
  static let groupLimit = 64

  private let writer: Writer
  private let thread: WorkerThread
  private let state = Lock(State())

  private struct State {
    var waiting: [Entry] = []
    var isScheduled = false
  }

  /// A write on its way.
  ///
  /// Its closure runs at most once; exactly one of result and error reaches who awaits it.
  private final class Entry: Sendable {
    let origin: String?
    let body: @Sendable (inout WriteTransaction) throws -> Void
    let finish: @Sendable ((any Error)?) -> Void
    let isCancelled: @Sendable () -> Bool

    init(
      origin: String?, body: @escaping @Sendable (inout WriteTransaction) throws -> Void,
      isCancelled: @escaping @Sendable () -> Bool, finish: @escaping @Sendable ((any Error)?) -> Void
    ) {
      self.origin = origin
      self.body = body
      self.isCancelled = isCancelled
      self.finish = finish
    }
  }

  init(writer: Writer) {
    self.writer = writer
    thread = WorkerThread(name: "userstore-write")
  }

  /// How many wait for their turn.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Queues `body` and waits for its commit and delivery.
  ///
  /// - Throws: `CancellationError` when the task was cancelled before it began; what `body` throws; the store's errors.
  func write<Result: Sendable>(
    origin: String?, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
  ) async throws -> Result {
    let result = Lock<Result?>(nil)
    let isCancelled = Lock(false)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let entry = Entry(
          origin: origin,
          body: { transaction in
            let value = try body(&transaction)
            result.withLock { $0 = value }
          },
          isCancelled: { isCancelled.withLock { $0 } },
          finish: { error in
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
          })
        enqueue(entry)
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
    guard let value = result.withLock({ $0 }) else {
      preconditionFailure("a write without an error ran its closure")
    }
    return value
  }

  /// Refuses what comes from now on; what waits gets `StoreError.closed` when the writer is closed before its turn.
  func close() {
    thread.stop()
  }

  private func enqueue(_ entry: Entry) {
    let mustSchedule = state.withLock { state in
      state.waiting.append(entry)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if mustSchedule { schedule() }
  }

  private func schedule() {
    do {
      if try !thread.run({ self.runGroups() }) { fail(StoreError(.closed, "the store is closed")) }
    } catch {
      fail(StoreError(.unexpected, "\(error)", cause: error))
    }
  }

  private func fail(_ error: StoreError) {
    let entries = state.withLock { state in
      defer { state = State() }
      return state.waiting
    }
    for entry in entries { entry.finish(error) }
  }

  private func runGroups() {
    while true {
      let group = state.withLock { state in
        let group = Array(state.waiting.prefix(Self.groupLimit))
        state.waiting.removeFirst(group.count)
        if group.isEmpty { state.isScheduled = false }
        return group
      }
      if group.isEmpty { return }
      run(group)
    }
  }

  private func run(_ group: [Entry]) {
    var entries: [Entry] = []
    for entry in group {
      if entry.isCancelled() { entry.finish(CancellationError()) } else { entries.append(entry) }
    }
    if entries.isEmpty { return }
    let failures = writer.writeGroup(entries.map { Writer.GroupMember(origin: $0.origin, body: $0.body) })
    for (entry, failure) in zip(entries, failures) { entry.finish(failure) }
    let rest = Array(entries.dropFirst(failures.count))
    if !rest.isEmpty { state.withLock { $0.waiting.insert(contentsOf: rest, at: 0) } }
  }
}
