import TestSupport

@testable import UserStore

extension RetentionPolicy {
  /// Keeps so many rows.
  static func rows(_ count: Int) -> RetentionPolicy { RetentionPolicy(Limits(changes: count)) }
}

extension UserStore {
  /// Writes sets of one change.
  func rename(_ user: User.ID, times count: Int) throws {
    for number in 0..<count { try write { try $0.rename(user, to: "name \(number)") } }
  }
}

extension PlainConnection {
  /// The first and the last row of the log that are there, how many there are, and its horizon.
  func extent() throws -> (first: Int64, last: Int64, count: Int64, horizon: Int64) {
    let row = try run("SELECT min(seq), max(seq), count(*), (SELECT horizon FROM meta) FROM changes")[0].map { value in
      if case .integer(let integer) = value { integer } else { Int64(0) }
    }
    return (row[0], row[1], row[2], row[3])
  }
}

/// A clock that a test sets.
final class SetClock: Sendable {
  private let state: Lock<Int64>

  init(_ milliseconds: Int64) {
    state = Lock(milliseconds)
  }

  var milliseconds: Int64 {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
