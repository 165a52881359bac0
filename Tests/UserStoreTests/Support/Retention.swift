import TestSupport

@testable import UserStore

extension RetentionPolicy {
  /// Keeps `count` rows.
  static func rows(_ count: Int) -> RetentionPolicy { RetentionPolicy(Limits(changes: count)) }
}

extension UserStore {
  /// Writes `count` sets of one change each.
  func rename(_ user: User.ID, times count: Int) throws {
    for number in 0..<count { try write { try $0.rename(user, to: "name \(number)") } }
  }
}

extension PlainConnection {
  /// The first and the last row that the log has, the number of its rows, and its horizon.
  func extent() throws -> (first: Int64, last: Int64, count: Int64, horizon: Int64) {
    let row = try run("SELECT min(seq), max(seq), count(*), (SELECT horizon FROM meta) FROM changes")[0].map { value in
      if case .integer(let integer) = value { integer } else { Int64(0) }
    }
    return (row[0], row[1], row[2], row[3])
  }
}

/// A wall clock that a test sets.
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
