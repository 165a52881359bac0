import Synchronization

/// Lets a few streams at a time read and render a part of the log, in the order of their requests.
///
/// Data that was read counts (`Budget`) only as text, and is released at the end of the turn (`LiveResponse`). Without turns,
/// each stream could hold a page of the log before the first page counts.
final class Turns: Sendable {
  private struct State {
    var free: Int
    var asked = 0
    var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  /// Waits for a turn; throws `CancellationError` if the task is canceled before.
  func take() async throws {
    let number = state.withLock { state in
      state.asked += 1
      return state.asked
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isTaken = state.withLock { state in
          // Under the lock, so that a cancellation finds the continuation, or is found here.
          if state.free > 0, !Task.isCancelled {
            state.free -= 1
            return true
          }
          state.waiting.append((number, continuation))
          return false
        }
        if isTaken { return continuation.resume() }
        if Task.isCancelled { cancel(number) }
      }
    } onCancel: {
      cancel(number)
    }
  }

  func giveBack() {
    let next = state.withLock { state in
      if state.waiting.isEmpty { state.free += 1 }
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst().continuation
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
