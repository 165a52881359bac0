import UserStore

/// The place in the log before the newest changes.
struct NewestChanges {
  /// The cursor before the newest changes.
  let start: Cursor
  /// Whether the filter accepts earlier changes too.
  let hasEarlier: Bool

  /// Finds the newest changes before `end` that a filter accepts, at most `count`, which is 1 or more.
  ///
  /// Reads backwards in growing steps, so a long log is read in full only if the filter accepts few changes.
  init(_ count: Int, _ filter: Filter, through end: Cursor, of store: UserStore) throws {
    var step = Self.leastStep
    while true {
      let (place, isOldest) = try Self.place(step, before: end, in: store)
      let found = try Self.sequences(after: place, through: end, filter, in: store, keeping: count)
      if found.isCut || isOldest {
        let first = found.kept.first.map { Revision(rawValue: $0 - 1) }
        start = try first.flatMap { first in try store.read { try $0.cursor(at: first) } } ?? place
        hasEarlier = found.isCut
        return
      }
      step *= 8
    }
  }

  private static let leastStep: Int64 = 1_024

  /// The cursor `step` rows before the end, or else the oldest one.
  private static func place(
    _ step: Int64, before end: Cursor, in store: UserStore
  ) throws -> (cursor: Cursor, isOldest: Bool) {
    try store.read { transaction in
      let oldest = try transaction.oldestCursor
      let revision = Revision(rawValue: end.revision.rawValue - step)
      guard revision > oldest.revision, let cursor = try transaction.cursor(at: revision) else { return (oldest, true) }
      return (cursor, false)
    }
  }

  private static func sequences(
    after start: Cursor, through end: Cursor, _ filter: Filter, in store: UserStore, keeping count: Int
  ) throws -> (kept: ArraySlice<Int64>, isCut: Bool) {
    var (kept, total) = ([Int64](), 0)
    try store.forEachSet(after: start) { set in
      try set.iterateEntries { entry in
        // A set of other programs' transactions may reach across the end.
        guard entry.sequence <= end.revision.rawValue else { return false }
        guard filter.accepts(Entry(entry)) else { return true }
        kept.append(entry.sequence)
        total += 1
        // In blocks: each removal moves all that remain.
        if kept.count > count, kept.count - count >= max(count, 1_024) { kept.removeFirst(kept.count - count) }
        return true
      }
      return set.revision < end.revision
    }
    return (kept.suffix(count), total > count)
  }
}

extension UserStore {
  /// Calls `body` with the sets after a cursor, or with all sets of the log, until it returns false.
  func forEachSet(after start: Cursor? = nil, _ body: (ChangeSet) throws -> Bool) throws {
    var position = start
    while true {
      let sets = try page(after: position)
      for set in sets where try !body(set) { return }
      guard let last = sets.last else { return }
      position = last.cursor
    }
  }
}
