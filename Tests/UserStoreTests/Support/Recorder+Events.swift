@testable import UserStore

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
