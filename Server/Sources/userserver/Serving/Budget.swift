import HTTPTypes
import Synchronization

/// Limits what all requests use together, such as streams or memory.
final class Budget: Sendable {
  /// What one request uses.
  ///
  /// It is returned when the permit is released, also if the response is never written.
  final class Permit: Sendable {
    private let budget: Budget
    private let amount = Mutex(0)

    fileprivate init(_ budget: Budget) { self.budget = budget }

    deinit { budget.usage.withLock { $0 -= amount.withLock { $0 } } }

    /// Adds to the use; throws if the budget is used up.
    func grow(by more: Int) throws(Problem) {
      try budget.use(more)
      amount.withLock { $0 += more }
    }
  }

  private let limit: Int
  private let problem: Problem
  private let usage = Mutex(0)

  /// `problem` answers a request for which nothing is left.
  init(_ limit: Int, problem: Problem) { (self.limit, self.problem) = (limit, problem) }

  var used: Int { usage.withLock { $0 } }

  /// Permits a request to use an amount; throws if there is less left.
  func permit(_ amount: Int) throws(Problem) -> Permit {
    let permit = Permit(self)
    try permit.grow(by: amount)
    return permit
  }

  private func use(_ amount: Int) throws(Problem) {
    let isFree = usage.withLock { used in
      if used + amount > limit { return false }
      used += amount
      return true
    }
    if !isFree { throw problem }
  }
}

extension Budget {
  /// Streams stay open, so their number is limited: other requests must find a connection.
  static func streams(_ limit: Int) -> Budget {
    Budget(
      limit,
      problem: Problem(
        .serviceUnavailable, "tooManyStreams", "\(limit) streams are open", hint: "try again later", retryAfter: 5))
  }

  /// The bytes of the bodies that are being received or sent, which slow clients make last.
  static func memory(mebibytes: Int) -> Budget {
    Budget(
      mebibytes << 20,
      problem: Problem(
        .serviceUnavailable, "overloaded", "the server has too many large requests", hint: "try again later",
        retryAfter: 1))
  }
}
