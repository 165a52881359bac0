import Observation

@testable import UserStore

/// What screens and models have, for chains.
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

/// The same, and it tells of changes.
@Observable @MainActor final class ObservedThing {
  var number = 0
  var text = ""
  var age: Int?
  var plain = Plain()
}

/// Cannot be compared.
struct Plain {
  var number = 0
}

/// Takes only even numbers: others are raised.
@MainActor final class Evener {
  var number = 0 {
    didSet { if number % 2 != 0 { number += 1 } }
  }
}

/// Takes only odd numbers.
@MainActor final class Odder {
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
}

/// Lets what waits for the main actor run until something holds; the suite's time limit ends it otherwise.
@MainActor func turns(until isDone: () -> Bool) async {
  while !isDone(), !Task.isCancelled { await Task.yield() }
}

/// Lets what waits for the main actor run: for what must not happen.
@MainActor func turns(_ count: Int = 50) async {
  for _ in 0..<count { await Task.yield() }
}

extension UserStore {
  /// The synchronous forms, in a function that could await.
  @discardableResult
  func writeNow<Result>(_ body: (inout WriteTransaction) throws -> Result) throws -> Result {
    try write(origin: nil, body)
  }
  func readNow<Result>(_ body: (inout ReadTransaction) throws -> Result) throws -> Result { try read(body) }
}
