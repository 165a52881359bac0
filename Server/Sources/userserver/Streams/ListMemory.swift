import Synchronization
import UserStore

/// Counts the rows of open lists: once for all streams of a query, for which the store has one copy.
final class ListMemory: Sendable {
  /// The rows of a query, which count until its last stream releases this.
  final class Rows: Sendable {
    private let counted = Mutex<(permit: Budget.Permit?, revision: UserStore.Revision?)>((nil, nil))

    var areCounted: Bool { counted.withLock { $0.permit != nil } }

    /// Takes the permit that counts the rows, unless another stream has counted them.
    func count(_ permit: Budget.Permit) {
      counted.withLock { $0.permit = $0.permit ?? permit }
    }

    /// Counts a version of the rows instead of an older one; throws if there is no memory left.
    func count(_ rows: UserStore.Rows) throws(Problem) {
      try counted.withLock { counted throws(Problem) in
        let revision = rows.cursor?.revision
        // Another stream may be at a newer version.
        if let newest = counted.revision, let revision, revision < newest, rows.discontinuity == nil { return }
        try counted.permit?.resize(to: rows.byteCount)
        counted.revision = revision
      }
    }
  }

  private struct Weak {
    weak var rows: Rows?
  }

  private let lists = Mutex<[UserStore.Query: Weak]>([:])

  /// The rows of a query.
  func rows(of query: UserStore.Query) -> Rows {
    lists.withLock { lists in
      if let rows = lists[query]?.rows { return rows }
      lists = lists.filter { $0.value.rows != nil }
      let rows = Rows()
      lists[query] = Weak(rows: rows)
      return rows
    }
  }
}
