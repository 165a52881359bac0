@testable import UserStore

/// A clock that stands still until it is moved.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper: Sendable {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var lastNumber = 0
    var sleepers: [Int: Sleeper] = [:]
    var canceled: Set<Int> = []
  }

  private let state = Lock(State())
  /// The deadlines of all sleeps that began, in order.
  let slept = Recorder<Duration>()
  /// The deadlines of the sleeps that were canceled.
  let woken = Recorder<Duration>()

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }
  /// The number of tasks that sleep.
  var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// - Returns: The number of sleeps that ended.
  @discardableResult
  func advance(by duration: Duration) -> Int {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.continuation.resume() }
    return due.count
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let outcome: Result<Void, any Error>? = state.withLock { state in
          if state.canceled.remove(number) != nil { return .failure(CancellationError()) }
          if deadline <= state.now { return .success(()) }
          state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) } else { slept.record(deadline.offset) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: number)
        if sleeper == nil { state.canceled.insert(number) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
      woken.record(deadline.offset)
    }
  }
}

/// A wall clock that a test sets.
final class SetClock: Sendable {
  private let state: Lock<Int64>

  init(_ milliseconds: Int64) {
    state = Lock(milliseconds)
  }

  var milliseconds: Int64 {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
