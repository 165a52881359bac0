import Foundation
import Testing

@testable import UserStore

/// Records elements in order, from any thread, and waits for them.
final class Recorder<Element: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let number: Int
    let isSatisfied: @Sendable ([Element]) -> Bool
    let resume: @Sendable () -> Void
  }

  private struct State {
    var elements: [Element] = []
    var waiters: [Waiter] = []
    var lastNumber = 0
  }

  private let state = Lock(State())

  var all: [Element] { state.withLock { $0.elements } }
  var count: Int { state.withLock { $0.elements.count } }

  func record(_ element: Element) {
    let satisfied = state.withLock { state in
      state.elements.append(element)
      let elements = state.elements
      let satisfied = state.waiters.filter { $0.isSatisfied(elements) }
      if !satisfied.isEmpty { state.waiters.removeAll { waiter in satisfied.contains { $0.number == waiter.number } } }
      return satisfied
    }
    for waiter in satisfied { waiter.resume() }
  }

  /// Blocks the thread until the recorded elements satisfy a condition.
  func wait(
    until isSatisfied: @escaping @Sendable ([Element]) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let gate = Gate()
    if addWaiter(isSatisfied, { gate.open() }) == nil { return }
    gate.wait(sourceLocation: sourceLocation)
  }

  func wait(for count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    wait(until: { $0.count >= count }, sourceLocation: sourceLocation)
  }

  /// The asynchronous form of `wait(until:)`, which returns when the task is canceled.
  func reached(until isSatisfied: @escaping @Sendable ([Element]) -> Bool) async {
    let number = Lock<Int?>(nil)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let added = addWaiter(isSatisfied) { continuation.resume() }
        number.withLock { $0 = added }
        if added == nil { continuation.resume() }
        if Task.isCancelled, let added { removeWaiter(added) }
      }
    } onCancel: {
      if let number = number.withLock({ $0 }) { removeWaiter(number) }
    }
  }

  func reached(_ count: Int) async {
    await reached { $0.count >= count }
  }

  /// - Returns: Nil if the condition is true already.
  private func addWaiter(
    _ isSatisfied: @escaping @Sendable ([Element]) -> Bool, _ resume: @escaping @Sendable () -> Void
  ) -> Int? {
    state.withLock { state in
      if isSatisfied(state.elements) { return nil }
      state.lastNumber += 1
      state.waiters.append(Waiter(number: state.lastNumber, isSatisfied: isSatisfied, resume: resume))
      return state.lastNumber
    }
  }

  private func removeWaiter(_ number: Int) {
    let removed = state.withLock { state in
      let removed = state.waiters.filter { $0.number == number }
      state.waiters.removeAll { $0.number == number }
      return removed
    }
    for waiter in removed { waiter.resume() }
  }
}

extension Recorder where Element == String {
  /// Records the events of a signal as `1`, `failed no` and `end`.
  func events<Value>(_ event: Signal<Value>.Event) {
    switch event {
    case .value(let value): record("\(value)")
    case .failure(let error): record("failed \((error as? Refusal)?.reason ?? "\(error)")")
    case .end: record("end")
    }
  }

  /// Subscribes and records.
  func events<Value>(of signal: Signal<Value>) -> SubscriptionToken {
    signal.subscribeToEvents { self.events($0) }
  }
}
