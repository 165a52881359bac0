import Dispatch
import Observation

@testable import UserStore

/// A screen or a model in a chain.
@MainActor final class Thing {
  var number = 0
  var real = 0.0
  var text = ""
  var flag = false
  var list: [Int] = []
  var nickname: String?
  var age: Int?

  init(number: Int = 0, text: String = "") {
    self.number = number
    self.text = text
  }
}

/// An observable screen or model.
@Observable @MainActor final class ObservedThing {
  var number = 0
  var text = ""
  var age: Int?
  var plain = Plain()
}

/// A value that cannot be compared.
struct Plain {
  var number = 0
}

/// Raises odd numbers to even ones.
@MainActor final class EvenNumber {
  var number = 0 {
    didSet { if number % 2 != 0 { number += 1 } }
  }
}

/// Raises even numbers to odd ones.
@MainActor final class OddNumber {
  var number = 1 {
    didSet { if number % 2 == 0 { number += 1 } }
  }
}

/// Counts how often it is written.
@MainActor final class Counted<Value> {
  private(set) var writes: [Value] = []
  var value: Value {
    didSet { writes.append(value) }
  }

  init(_ value: Value) { self.value = value }
}

/// The errors of a chain.
@MainActor final class Faults {
  private(set) var all: [BindingError] = []

  func chain(_ name: String = "test") -> BindingChain {
    BindingChain(name) { self.all.append($0) }
  }

  var texts: [String] { all.map(\.description) }

  /// Those that the first error names because they caused too many rounds.
  var rounds: [String]? {
    if case .failed(let error as TooManyRounds)? = all.first?.reason { error.listeners } else { nil }
  }
}

/// Yields to tasks that wait for the main actor until a condition is true or the suite's time limit cancels the test.
@MainActor func turns(until isDone: () -> Bool) async {
  while !isDone(), !Task.isCancelled { await turn() }
}

/// Yields to tasks that wait for the main actor, before an expectation that something did not happen.
@MainActor func turns(_ count: Int = 50) async {
  for _ in 0..<count { await turn() }
}

/// Lets the work run that waits for the main actor.
///
/// Not by `Task.yield`, which leaves the main actor, and then waits for one of Swift's threads.
@MainActor private func turn() async {
  await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
}

extension UserStore {
  /// The synchronous forms, for use in an async function.
  @discardableResult
  func writeNow<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
    try write(origin: nil, body)
  }
  func readNow<Result>(_ body: (inout ReadTransaction) throws -> Result) throws -> Result { try read(body) }
}
