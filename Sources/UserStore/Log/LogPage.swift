/// The change sets that one step reads from the log: whole sets, up to a page of rows.
struct LogPage {
  var sets: [ChangeSet] = []
  /// The end of the last set, or the position where the step started.
  var position: Cursor
  /// Whether the page reaches the requested end.
  var isLast = false

  /// Reads the sets after a position, which is the end of a set, through `end`, the last row of a transaction.
  ///
  /// The position was verified in the open transaction, or in that of the write that has just been committed. `pages` reads the
  /// changes of a huge set later.
  ///
  /// - Throws: `StoreError.Code.diverged` for a gap, `.corrupt` if the rows through `end` are missing, and the errors of reading.
  init(
    after position: Cursor, through end: Int64, _ session: any Session, pages: any PageSource
  ) throws(StoreError) {
    self.position = position
    let rows = try session.rows(withoutGapAfter: position.revision.rawValue, through: end)
    var start = 0
    // By index, here and below: taking a row out of its array copies three values.
    for index in rows.indices where rows[index].isEnd {
      appendSets(rows[start..<index], endedBy: rows[index])
      start = index + 1
    }
    let hasReachedEnd = rows.last.map { $0.sequence == end } ?? true
    if hasReachedEnd {
      appendSets(rows[start...], endedBy: nil)
    } else if sets.isEmpty {
      try appendHugeSet(rows, through: end, session, pages)
    }
    isLast = self.position.revision.rawValue >= end
    // A damaged index can hide rows; without this, a reader would ask for the same page again and again.
    if !isLast, self.position == position {
      throw StoreError(
        .corrupt, "the database is damaged: the log ends at \(end), but has no rows after \(position.revision)")
    }
  }

  /// Keeps only the changes of some topics; called outside of the transaction, because it may read a huge set.
  ///
  /// - Returns: Whether it has read a huge set.
  mutating func keep(_ topics: [Topic]) throws(StoreError) -> Bool {
    if topics.contains(.everything) {
      sets.removeAll(where: \.isHidden)
      return false
    }
    let isHuge = sets.contains { $0.heldChanges == nil }
    var kept: [ChangeSet] = []
    for set in sets {
      if let part = try set.part(of: topics) { kept.append(part) }
    }
    sets = kept
    return isHuge
  }

  /// The sets, with contents that are read again later, so that a long queue of sets takes little memory.
  func ranges(after start: Cursor, pages: any PageSource) -> [ChangeSet] {
    var start = start.revision.rawValue
    return sets.map { set in
      defer { start = set.revision.rawValue }
      return set.with(.paged(PagedChanges(start: start, end: set.revision.rawValue, source: pages)))
    }
  }

  private mutating func appendSets(_ rows: ArraySlice<LogRow>, endedBy end: LogRow?) {
    let start = position.revision.rawValue
    let foreignEnd = end.map { LogRow.foreignEnd(after: start, before: $0.firstOfSet) ?? start } ?? .max
    let foreign = rows.prefix { $0.sequence <= foreignEnd }
    if let last = foreign.last {
      append(.held(foreign.entries), endingAt: last.sequence, last.nonce, origin: nil, isForeign: true)
    }
    guard let end else { return }
    let own = rows.dropFirst(foreign.count).entries
    append(
      .held(own), endingAt: end.sequence, end.nonce, origin: end.origin, isForeign: end.isForeign,
      isContinued: end.firstOfSet <= start, isPulled: own.isPulled)
  }

  /// Appends a set whose end is beyond this page, or the foreign set before it, which may be small.
  private mutating func appendHugeSet(
    _ rows: [LogRow], through end: Int64, _ session: any Session, _ pages: any PageSource
  ) throws(StoreError) {
    let start = position.revision.rawValue
    let setEnd = try session.nextEnd(after: start, through: end)
    let foreignEnd: Int64? = setEnd.map { LogRow.foreignEnd(after: start, before: $0.first) } ?? end
    if let foreignEnd, let last = rows.last, foreignEnd <= last.sequence {
      appendSets(rows.prefix { $0.sequence <= foreignEnd }, endedBy: nil)
      return
    }
    func content(through end: Int64) -> ChangeSet.Content {
      .paged(PagedChanges(start: start, end: end, source: pages))
    }
    if let foreignEnd {
      let nonce = try session.logState(at: foreignEnd, of: nil).nonce ?? 0
      append(content(through: foreignEnd), endingAt: foreignEnd, nonce, origin: nil, isForeign: true)
    } else if let setEnd {
      append(
        content(through: setEnd.sequence), endingAt: setEnd.sequence, setEnd.nonce, origin: setEnd.origin,
        isForeign: setEnd.isForeign, isContinued: setEnd.first <= start,
        isPulled: try session.hasPulled(endingAt: setEnd.sequence))
    }
  }

  private mutating func append(
    _ content: ChangeSet.Content, endingAt sequence: Int64, _ nonce: Int64, origin: String?, isForeign: Bool,
    isContinued: Bool = false, isPulled: Bool = false
  ) {
    position = Cursor(epoch: position.epoch, revision: sequence, nonce: nonce)
    sets.append(
      ChangeSet(
        cursor: position, origin: origin, isForeign: isForeign, isContinued: isContinued, isPulled: isPulled,
        content: content))
  }
}
