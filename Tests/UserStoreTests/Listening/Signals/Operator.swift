import Testing

@testable import UserStore

/// An operator whose closures capture a token, for the guarantees of all operators.
struct Operator: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let apply: @Sendable (Signal<Item>, Token) -> Signal<Item>

  private init(_ name: String, _ apply: @escaping @Sendable (Signal<Item>, Token) -> Signal<Item>) {
    testDescription = name
    self.apply = apply
  }

  /// All operators that emit values as they arrive.
  static let all = [
    Operator("map") { signal, token in signal.map { holding(token, $0) } },
    Operator("filter") { signal, token in signal.filter { holding(token, $0).number >= 0 } },
    Operator("compactMap") { signal, token in signal.compactMap { holding(token, $0) } },
    Operator("mapFailure") { signal, token in signal.mapFailure { holding(token, $0) } },
    Operator("scan") { signal, token in
      signal.scan(Item(number: 0, token: token)) { Item(number: $1.number, token: $0.token) }
    },
    Operator("withPrevious") { signal, token in signal.withPrevious().map { holding(token, $0.new) } },
    Operator("removeDuplicates") { signal, token in signal.removeDuplicates(by: { holding(token, $0) }) },
    Operator("flatMapLatest") { signal, token in signal.flatMapLatest { Signal(of: [holding(token, $0)]) } },
    Operator("flatMapLatest to one that does not end") { signal, token in
      signal.flatMapLatest { item in signal.map { holding(token, $0) }.merge(Signal(of: [item])) }
    },
    Operator("flatMap") { signal, token in signal.flatMap { Signal(of: [holding(token, $0)]) } },
    Operator("merge") { signal, token in signal.merge(signal.filter { holding(token, $0).number < 0 }) },
    Operator("catch") { signal, token in
      signal.catch { error -> Signal<Item> in throw holding(token, error) }
    },
    Operator("combineLatest") { signal, token in signal.combineLatest(signal) { a, _ in holding(token, a) } },
    Operator("combineLatest of three") { signal, token in
      signal.combineLatest(signal, signal).map { holding(token, $0.0) }
    },
    Operator("take") { signal, token in signal.take(until: signal.filter { holding(token, $0).number < 0 }) },
    Operator("throttle") { signal, token in
      signal.map { holding(token, $0) }.throttle(for: .seconds(1), clock: ManualClock())
    },
    Operator("share") { signal, token in signal.map { holding(token, $0) }.share() },
    Operator("share, replaying the latest") { signal, token in
      signal.map { holding(token, $0) }.share(replayingLatest: true)
    },
    Operator("several") { signal, token in
      signal.map { holding(token, $0) }.share().flatMapLatest { Signal(of: [$0]) }.removeDuplicates(by: \.number).share(
        replayingLatest: true)
    },
  ]

  private static func holding<Value>(_ token: Token, _ value: Value) -> Value {
    withExtendedLifetime(token) { value }
  }
}
