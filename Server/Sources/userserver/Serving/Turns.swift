import HTTPTypes
import Synchronization

/// Lets a few requests at a time do something, in their order; of each person, even fewer.
///
/// Such as streams that read and render a part of the log. Data that was read counts (`Budget`) only as text, and is released at the
/// end of the turn (`LiveResponse`). Without turns, each stream could hold a page of the log before the first page counts.
final class Turns: Sendable {
  private struct State {
    var free: Int
    /// How many turns each person has.
    var taken: [String: Int] = [:]
    var asked = 0
    var waiting: [(number: Int, subject: String, continuation: CheckedContinuation<Void, any Error>)] = []

    func mayBegin(_ subject: String, share: Int) -> Bool {
      free > 0 && (subject.isEmpty || taken[subject, default: 0] < share)
    }

    mutating func begin(_ subject: String) {
      free -= 1
      taken[subject, default: 0] += 1
    }

    mutating func end(_ subject: String) {
      free += 1
      taken[subject, default: 0] -= 1
      if taken[subject] == 0 { taken[subject] = nil }
    }
  }

  private let share: Int
  private let state: Mutex<State>

  /// Creates `count` turns, of which each person can have `share`; the holder of the server's own token, whose subject is empty, all.
  init(_ count: Int, share: Int) {
    self.share = share
    state = Mutex(State(free: count))
  }

  /// Waits for a turn.
  ///
  /// - Parameters:
  ///   - subject: For whom it is; pass the same to `giveBack`.
  ///   - limit: How many requests of a person can wait.
  /// - Throws: `tooManyQueries`, and `CancellationError` if the task is canceled before the turn.
  func take(for subject: String, waiting limit: Int = .max) async throws {
    let number: Int? = state.withLock { state in
      if limit < .max, state.waiting.count(where: { $0.subject == subject }) >= limit { return nil }
      state.asked += 1
      return state.asked
    }
    guard let number else {
      throw Problem(
        .tooManyRequests, "tooManyQueries", "\(limit) of your requests wait for their answers", retryAfter: 1)
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isTaken = state.withLock { state in
          // Under the lock, so that a cancellation finds the continuation, or is found here.
          if state.mayBegin(subject, share: share), !Task.isCancelled {
            state.begin(subject)
            return true
          }
          state.waiting.append((number, subject, continuation))
          return false
        }
        if isTaken { return continuation.resume() }
        if Task.isCancelled { cancel(number) }
      }
    } onCancel: {
      cancel(number)
    }
  }

  func giveBack(from subject: String) {
    let next: CheckedContinuation<Void, any Error>? = state.withLock { state in
      state.end(subject)
      let index = state.waiting.firstIndex { state.mayBegin($0.subject, share: share) }
      guard let next = index.map({ state.waiting.remove(at: $0) }) else { return nil }
      state.begin(next.subject)
      return next.continuation
    }
    next?.resume()
  }

  private func cancel(_ number: Int) {
    let canceled = state.withLock { state in
      state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
    }
    canceled?.resume(throwing: CancellationError())
  }
}
