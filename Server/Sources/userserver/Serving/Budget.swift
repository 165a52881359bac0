import HTTPTypes
import Hummingbird
import Synchronization

/// Limits the total use of something by all requests, such as streams or memory.
final class Budget: Sendable {
  /// The use of one request, which ends when the permit is released, even if the response is never written.
  final class Permit: Sendable {
    private let budget: Budget
    private let amount = Mutex(0)

    fileprivate init(_ budget: Budget) { self.budget = budget }

    deinit { budget.use(-amount.withLock { $0 }) }

    /// Adds to the use; throws if the budget is exhausted, unless the use is required.
    func grow(by more: Int, isRequired: Bool = false) throws(Problem) {
      try resize(to: amount.withLock { $0 } + more, isRequired: isRequired)
    }

    /// Changes the use, one change of a permit at a time; throws if the use exceeds the budget.
    ///
    /// `isRequired` means that the use cannot be refused, such as for the answer to a write that was made.
    func resize(to new: Int, isRequired: Bool = false) throws(Problem) {
      let more = new - amount.withLock { $0 }
      if isRequired || more <= 0 { budget.use(more) } else { try budget.tryToUse(more) }
      amount.withLock { $0 += more }
    }
  }

  private let limit: Int
  private let problem: Problem
  private let state = Mutex<(used: Int, end: Problem?)>((0, nil))

  /// `problem` answers a request that exceeds the limit.
  init(_ limit: Int, problem: Problem) { (self.limit, self.problem) = (limit, problem) }

  var used: Int { state.withLock { $0.used } }

  func permit(_ amount: Int) throws(Problem) -> Permit {
    let permit = Permit(self)
    try permit.grow(by: amount)
    return permit
  }

  func end(with problem: Problem) { state.withLock { $0.end = problem } }

  private func use(_ amount: Int) { state.withLock { $0.used += amount } }

  private func tryToUse(_ amount: Int) throws(Problem) {
    let refusal: Problem? = state.withLock { state in
      if let end = state.end { return end }
      if state.used + amount > limit { return problem }
      state.used += amount
      return nil
    }
    if let refusal { throw refusal }
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

  /// The bytes of bodies that are being received or sent, which slow clients prolong, of data read for answers, and of the rows
  /// of open lists.
  ///
  /// Data read for streams does not count: only a few read and render at a time (`Turns`).
  static func memory(mebibytes: Int) -> Budget {
    Budget(
      mebibytes << 20,
      problem: Problem(
        .serviceUnavailable, "overloaded", "the server has too many large requests", hint: "try again later",
        retryAfter: 1))
  }
}

extension ResponseBody {
  /// The same body, which keeps a permit until it is written or released.
  func keeping(_ permit: Budget.Permit?) -> ResponseBody {
    ResponseBody(contentLength: contentLength) { [self] writer in
      defer { withExtendedLifetime(permit) {} }
      try await write(writer)
    }
  }
}
