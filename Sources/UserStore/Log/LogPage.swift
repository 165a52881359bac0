/// What one step reads of the log: whole change sets, up to a page.
struct LogPage {
  /// In order; none is cut short.
  var sets: [ChangeSet] = []
  /// The end of the last set, or where the step began.
  var position: Cursor
  /// Whether nothing is left up to the end that was asked for.
  var isLast = false

  /// Reads the sets after a position.
  ///
  /// The caller has a transaction open and knows that the log goes on from there.
  ///
  /// - Parameters:
  ///   - position: The end of a set.
  ///   - end: The last row to read: the last one of a transaction.
  ///   - session: Where the transaction is open.
  ///   - pages: Reads a huge set again, later.
  /// - Throws: `StoreError.Code.diverged` for a gap, and what reading can throw.
  init(
    after position: Cursor, through end: Int64, _ session: any Session,
    pages: @escaping PagedChanges.Read
  ) throws(StoreError) {
    self.position = position
    let rows = try session.rows(withoutGapAfter: position.revision.rawValue, through: end)
    var start = 0
    // By index, here and below: a row that is taken out of its array is a copy of three values.
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
  }

  private mutating func appendSets(_ rows: ArraySlice<LogRow>, endedBy end: LogRow?) {
    let start = position.revision.rawValue
    let foreignEnd = end.map { LogRow.foreignEnd(after: start, before: $0.firstOfSet) ?? start } ?? .max
    let foreign = rows.prefix { $0.sequence <= foreignEnd }
    if let last = foreign.last {
      append(foreign.map(\.change), endingAt: last.sequence, last.nonce, origin: nil, isForeign: true)
    }
    guard let end else { return }
    let own = rows.dropFirst(foreign.count).map(\.change)
    append(own, endingAt: end.sequence, end.nonce, origin: end.origin, isForeign: false)
  }

  /// The sets without their rows: a long row of them waits in little memory.
  func ranges(after start: Cursor, pages: @escaping PagedChanges.Read) -> [ChangeSet] {
    var start = start.revision.rawValue
    return sets.map { set in
      defer { start = set.revision.rawValue }
      return set.with(.paged(PagedChanges(start: start, end: set.revision.rawValue, topic: nil, read: pages)))
    }
  }

  private mutating func append(
    _ changes: [Change], endingAt sequence: Int64, _ nonce: Int64, origin: String?, isForeign: Bool
  ) {
    position = Cursor(epoch: position.epoch, revision: sequence, nonce: nonce)
    sets.append(ChangeSet(cursor: position, origin: origin, isForeign: isForeign, content: .held(changes)))
  }

  /// A set of which not even the end is on this page; or the foreign one before it, which may be small.
  private mutating func appendHugeSet(
    _ rows: [LogRow], through end: Int64, _ session: any Session, _ pages: @escaping PagedChanges.Read
  ) throws(StoreError) {
    let start = position.revision.rawValue
    let marker = try session.nextEnd(after: start, through: end)
    let foreignEnd: Int64? = marker.map { LogRow.foreignEnd(after: start, before: $0.first) } ?? end
    if let foreignEnd, let last = rows.last, foreignEnd <= last.sequence {
      appendSets(rows.prefix { $0.sequence <= foreignEnd }, endedBy: nil)
      return
    }
    var isForeign = false
    if let foreignEnd {
      let nonce = try session.nonce(of: foreignEnd)
      position = Cursor(epoch: position.epoch, revision: foreignEnd, nonce: nonce ?? 0)
      isForeign = true
    } else if let marker {
      position = Cursor(epoch: position.epoch, revision: marker.sequence, nonce: marker.nonce)
    }
    let changes = PagedChanges(start: start, end: position.revision.rawValue, topic: nil, read: pages)
    sets.append(
      ChangeSet(
        cursor: position, origin: isForeign ? nil : marker?.origin, isForeign: isForeign, content: .paged(changes)))
  }
}

extension LogOperations {
  /// Up to one page of rows.
  ///
  /// - Throws: `StoreError.Code.diverged` for a gap between them.
  func rows(withoutGapAfter start: Int64, through end: Int64) throws(StoreError) -> [LogRow] {
    let rows = try rows(after: start, through: end)
    for index in rows.indices where rows[index].sequence != start + Int64(index) + 1 {
      throw StoreError(.diverged, "the log has a gap before revision \(rows[index].sequence)")
    }
    return rows
  }
}
