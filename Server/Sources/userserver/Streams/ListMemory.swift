import Synchronization
import UserStore

/// Counts the rows of open lists: once for all streams of a query, because the store has one copy, plus the replaced rows in
/// older versions that slow streams still hold.
final class ListMemory: Sendable {
  /// The rows of a query, which count until the last stream releases them.
  final class Rows: Sendable {
    private let counted = Mutex(Counted())

    var areCounted: Bool { counted.withLock { $0.permit != nil } }

    /// Takes the permit that counts the rows, unless another stream has counted them.
    func count(_ permit: Budget.Permit) {
      counted.withLock { $0.permit = $0.permit ?? permit }
    }

    /// A stream's hold on a version, which counts until the stream releases it.
    func holder() -> Holder { Holder(self) }

    fileprivate func change<Result>(_ body: (inout Counted) throws(Problem) -> Result) throws(Problem) -> Result {
      try counted.withLock { counted throws(Problem) in try body(&counted) }
    }
  }

  /// The oldest version of the rows that a stream holds.
  final class Holder: Sendable {
    private let rows: Rows

    fileprivate init(_ rows: Rows) { self.rows = rows }

    deinit {
      // This uses less memory, which is never refused.
      try? rows.change { counted throws(Problem) in try counted.hold(nil, for: ObjectIdentifier(self)) }
    }

    /// Counts a version that the stream receives, in addition to the one that it holds; throws if memory is exhausted.
    func receive(_ version: UserStore.Rows) throws(Problem) {
      try rows.change { counted throws(Problem) in
        counted.add(version)
        let holder = ObjectIdentifier(self)
        try counted.hold(counted.held[holder] ?? counted.number(of: version), for: holder)
      }
    }

    /// Notes that the stream holds no version before this one.
    func keep(_ version: UserStore.Rows) throws(Problem) {
      try rows.change { counted throws(Problem) in
        try counted.hold(counted.number(of: version), for: ObjectIdentifier(self))
      }
    }
  }

  /// The counted versions, numbered in the order in which streams received them.
  fileprivate struct Counted {
    var permit: Budget.Permit?
    /// The oldest versions that streams hold, by stream.
    private(set) var held: [ObjectIdentifier: Int] = [:]
    private var newest: UserStore.Rows?
    /// The versions from the oldest held one on.
    private var versions: [Version] = []
    /// The number of the first of `versions`.
    private var first = 0

    private struct Version {
      let revision: UserStore.Revision?
      /// The bytes of all rows that were replaced up to this version.
      let replaced: Int
      var holders = 0
    }

    /// Adds a version if it is the newest.
    mutating func add(_ version: UserStore.Rows) {
      let revision = version.cursor?.revision
      guard let newest, let last = versions.last else {
        newest = version
        return versions.append(Version(revision: revision, replaced: 0))
      }
      // Another stream may have received a newer version. After a restore, revisions can be smaller.
      if version.discontinuity == nil, let end = last.revision, let revision, revision <= end { return }
      if version.discontinuity != nil, revision == last.revision { return }
      let entered = version.rowChanges(from: newest).steps.reduce(0) { sum, step in
        switch step {
        case .insert(let user, _), .update(let user, _, _): sum + user.byteCount
        case .move(let user, _, _, let changed): changed.isEmpty ? sum : sum + user.byteCount
        case .remove: sum
        }
      }
      let replaced = max(0, newest.byteCount + entered - version.byteCount)
      versions.append(Version(revision: revision, replaced: last.replaced + replaced))
      self.newest = version
    }

    /// The number of an added version; the oldest held version's number if no stream has received it first.
    func number(of version: UserStore.Rows) -> Int {
      let revision = version.cursor?.revision
      let index = versions.lastIndex { $0.revision == revision }
      return first + (index ?? 0)
    }

    /// Notes the version that a stream holds, and counts those of all streams; throws if memory is exhausted.
    mutating func hold(_ number: Int?, for holder: ObjectIdentifier) throws(Problem) {
      if let number { versions[number - first].holders += 1 }
      if let before = held[holder] { versions[before - first].holders -= 1 }
      held[holder] = number
      guard let newest, let last = versions.last else { return }
      let gone = versions.dropLast().prefix { $0.holders == 0 }.count
      versions.removeFirst(gone)
      first += gone
      try permit?.resize(to: newest.byteCount + last.replaced - (versions.first?.replaced ?? 0))
    }
  }

  private struct Weak {
    weak var rows: Rows?
  }

  private let lists = Mutex<[UserStore.Query: Weak]>([:])

  /// How many lists are open.
  var count: Int { lists.withLock { $0.count { $0.value.rows != nil } } }

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
