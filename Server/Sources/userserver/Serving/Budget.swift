import HTTPTypes
import Hummingbird
import Synchronization
import UserStoreSync

/// Limits the total use of something by all requests, such as streams or memory.
final class Budget: Sendable {
  /// The use of one request, which ends when the permit is released, even if the response is never written.
  final class Permit: Sendable {
    private let budget: Budget
    private let subject: String
    private let amount = Mutex(0)

    fileprivate init(_ budget: Budget, _ subject: String) { (self.budget, self.subject) = (budget, subject) }

    deinit { budget.use(-amount.withLock { $0 }, subject) }

    /// Adds to the use; throws if the budget is exhausted, unless the use is required.
    func grow(by more: Int, isRequired: Bool = false) throws(Problem) {
      try resize(to: amount.withLock { $0 } + more, isRequired: isRequired)
    }

    /// Changes the use, one change of a permit at a time; throws if the use exceeds the budget.
    ///
    /// `isRequired` means that the use cannot be refused, such as for the answer to a write that was made.
    func resize(to new: Int, isRequired: Bool = false) throws(Problem) {
      let more = new - amount.withLock { $0 }
      if isRequired || more <= 0 { budget.use(more, subject) } else { try budget.tryToUse(more, subject) }
      amount.withLock { $0 += more }
    }
  }

  private struct State {
    var used = 0
    /// What each person uses.
    var shares: [String: Int] = [:]
    var end: Problem?

    mutating func use(_ amount: Int, _ subject: String) {
      used += amount
      if subject.isEmpty { return }
      shares[subject, default: 0] += amount
      if shares[subject] == 0 { shares[subject] = nil }
    }
  }

  private let limit: Int
  /// What one person can use.
  private let share: Int
  private let problem: Problem
  private let state = Mutex(State())

  /// `problem` answers a request that exceeds the limit.
  ///
  /// A person can use a quarter, or `least` if that is more.
  convenience init(_ limit: Int, least: Int = 1, problem: Problem) {
    self.init(limit, share: min(limit, max(limit / 4, least)), problem: problem)
  }

  private init(_ limit: Int, share: Int, problem: Problem) {
    (self.limit, self.share, self.problem) = (limit, share, problem)
  }

  var used: Int { state.withLock { $0.used } }

  /// A permit for the use by a person, or without a subject by the holder of the server's own token, who can use all.
  func permit(_ amount: Int, for subject: String) throws(Problem) -> Permit {
    let permit = Permit(self, subject)
    try permit.grow(by: amount)
    return permit
  }

  func end(with problem: Problem) { state.withLock { $0.end = problem } }

  private func use(_ amount: Int, _ subject: String) { state.withLock { $0.use(amount, subject) } }

  private func tryToUse(_ amount: Int, _ subject: String) throws(Problem) {
    let refusal: Problem? = state.withLock { state in
      if let end = state.end { return end }
      let own = subject.isEmpty ? 0 : state.shares[subject, default: 0] + amount
      if state.used + amount > limit || own > share { return problem }
      state.use(amount, subject)
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

  /// The texts in which the open lists of a person search.
  ///
  /// After each change, the lists search in its values before others write.
  static func searches() -> Budget {
    let share = 50
    return Budget(
      .max / 2, share: share,
      problem: Problem(
        .serviceUnavailable, "tooManySearches", "your lists search in \(share) texts", hint: "close one of them",
        retryAfter: 5))
  }

  /// The bytes of bodies that are being received or sent, which slow clients prolong, of data read for answers, and of the rows
  /// of open lists.
  ///
  /// Data read for streams does not count: only a few read and render at a time (`Turns`).
  static func memory(mebibytes: Int) -> Budget {
    Budget(
      mebibytes << 20,
      // A push is counted four times.
      least: 4 * SyncRequest.pushLimit,
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
