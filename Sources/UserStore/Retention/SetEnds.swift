/// The ends of the oldest change sets: the sets that a `LogPage` has, but without their values.
///
/// A set may be too large for one step. Then no end is found, and the next search continues where this one stopped.
///
/// `LogPage` is not used because it reads all values, and searches a huge set at once. One rule divides the rows for both
/// (`LogRow.foreignEnd`), and `CompactionModelTests` compares them.
struct SetEnds {
  struct End {
    let sequence: Int64
    let nonce: Int64
    /// Whether a row of its own ends the set.
    let hasEndRow: Bool
  }

  private(set) var ends: [End] = []
  /// The last row through which no write ends after the start of the log.
  private(set) var searched: Int64

  /// Finds the ends, in an open transaction; reads at most `limit` rows.
  ///
  /// - Throws: `StoreError.Code.diverged` for a gap, and the errors of reading.
  init(of extent: LogExtent, limit: Int, _ session: any Session) throws(StoreError) {
    var start = extent.horizon.revision.rawValue
    let marks = try Self.marks(in: extent, limit, session)
    searched = (marks.found.first?.sequence ?? marks.last + 1) - 1
    for mark in marks.found {
      if let foreign = LogRow.foreignEnd(after: start, before: mark.first) {
        ends.append(try Self.foreign(foreign, session))
      }
      ends.append(End(sequence: mark.sequence, nonce: mark.nonce, hasEndRow: true))
      start = mark.sequence
    }
    if marks.last == extent.head, start < extent.head { ends.append(try Self.foreign(extent.head, session)) }
  }

  /// The ends of writes in a page of rows, or in more rows until one is found.
  private static func marks(
    in extent: LogExtent, _ limit: Int, _ session: any Session
  ) throws(StoreError) -> (found: [SetEnd], last: Int64) {
    var (found, last): ([SetEnd], Int64) = ([], extent.searched)
    var gap: Int64?
    let page = extent.horizon.revision.rawValue + Int64(PagedChanges.rowLimit)
    try session.scan(after: last, through: extent.head, limit: limit) { sequence, end in
      if sequence != last + 1 { gap = sequence }
      last = sequence
      if let end { found.append(end) }
      return gap == nil && (found.isEmpty || last < page)
    }
    if let gap { throw StoreError(.diverged, "the log has a gap before revision \(gap)") }
    return (found, last)
  }

  private static func foreign(_ sequence: Int64, _ session: any Session) throws(StoreError) -> End {
    End(sequence: sequence, nonce: try session.logState(at: sequence, of: nil).nonce ?? 0, hasEndRow: false)
  }
}
