/// What a replica receives of the log at once: whole sets with the notes for replicas, or a part of a huge set.
package struct LogPart: Sendable {
  package enum Entry: Sendable {
    case entry(UserStore.Entry)
    case purged(User.ID)
    /// The set was sent by a replica, whose log has this random number where it ends.
    case pushed(Int64)
  }

  package struct Piece: Sendable {
    package let entries: [Entry]
    /// The end of the set; nil if the set goes on in the next part.
    package let end: Cursor?
    package let origin: String?
    /// Whether the set began in an earlier part.
    package let isContinued: Bool
  }

  package let pieces: [Piece]
  /// The end of the last whole set, or the position where the part starts.
  package let position: Cursor
  /// The last row of a set that goes on.
  package let part: Cursor?
  /// The end of the log.
  package let head: Cursor
}

extension Reader {
  /// Reads the log after the end of a set on the calling thread: up to a page.
  ///
  /// `part` is a row of the next set, after which the reading starts then. It and `also` are verified in the same read.
  ///
  /// - Throws: `StoreError.Code.compacted`, `.diverged`, `.replaced`, `.behind`, and the codes that every read can throw.
  func logPart(after cursor: Cursor, part: Cursor?, also: Cursor?) throws(StoreError) -> LogPart {
    try following { () throws(StoreError) in
      try reading(after: cursor) { transaction throws(StoreError) in
        let session = try transaction.session
        let end = try session.verify(cursor)
        if let also { _ = try session.verify(also) }
        if let part { try Self.verify(part, after: cursor, session) }
        let start = part ?? cursor
        let head = try session.logEnd()
        let page = try LogPage(after: start, through: end, session, pages: self)
        if let set = page.sets.first, set.heldChanges == nil {
          return try Self.part(of: set, after: start, in: session, at: (cursor, head), isContinued: part != nil)
        }
        var (pieces, position): ([LogPart.Piece], _) = ([], start.revision)
        var notes = NotedRows(end: page.position.revision.rawValue)
        for set in page.sets {
          let entries = try notes.entries(of: set, after: position, in: session)
          let isContinued = pieces.isEmpty && part != nil
          pieces.append(LogPart.Piece(entries: entries, end: set.cursor, origin: set.origin, isContinued: isContinued))
          position = set.revision
        }
        return LogPart(pieces: pieces, position: page.position, part: nil, head: head)
      }
    }
  }

  /// Checks a row within the set that follows a verified cursor.
  private static func verify(_ part: Cursor, after cursor: Cursor, _ session: any Session) throws(StoreError) {
    guard part.revision > cursor.revision else {
      throw StoreError(.diverged, "the revision \(part.revision) is not within the set after \(cursor.revision)")
    }
    _ = try session.verify(part)
  }

  private static func part(
    of set: ChangeSet, after start: Cursor, in session: any Session, at place: (cursor: Cursor, head: Cursor),
    isContinued: Bool
  ) throws(StoreError) -> LogPart {
    let rows = try session.rows(withoutGapAfter: start.revision.rawValue, through: set.revision.rawValue)
    // A row within a set has no random number of its own on every engine.
    guard let last = rows.last, let end = try session.cursor(at: last.sequence) else {
      throw StoreError(.corrupt, "the log has no rows after \(start.revision)")
    }
    let isWhole = last.sequence == set.revision.rawValue
    let piece = LogPart.Piece(
      entries: rows.allEntries, end: isWhole ? set.cursor : nil, origin: isWhole ? set.origin : nil,
      isContinued: isContinued)
    return LogPart(
      pieces: [piece], position: isWhole ? set.cursor : place.cursor,
      part: isWhole ? nil : end, head: place.head)
  }
}

/// The rows of a page, which are read again if a set has notes: once, because all sets that replicas have sent have one.
private struct NotedRows {
  /// The last row of the page.
  let end: Int64
  private var rows: ArraySlice<LogRow> = []

  init(end: Int64) { self.end = end }

  /// The changes, the events, and the notes of a set that is in memory and starts after a revision.
  mutating func entries(
    of set: UserStore.ChangeSet, after start: UserStore.Revision, in session: any Session
  ) throws(StoreError) -> [LogPart.Entry] {
    guard case .held(let entries) = set.content else { return [] }
    guard entries.hasNotes else { return entries.merged.map { .entry($0) } }
    let last = set.revision.rawValue
    if rows.last?.sequence ?? .min < last { rows = try session.rows(after: start.rawValue, through: end)[...] }
    rows = rows.drop { $0.sequence <= start.rawValue }
    return rows.prefix { $0.sequence <= last }.allEntries
  }
}

extension Sequence<LogRow> {
  /// The changes, the events, and the notes for replicas, in the order of the log.
  fileprivate var allEntries: [LogPart.Entry] {
    compactMap { row in
      if row.isEnd { return nil }
      if !row.isNote { return .entry(.change(row.change)) }
      return row.event.map { .entry(.event($0)) } ?? row.purged.map { .purged($0) } ?? row.pushed.map { .pushed($0) }
    }
  }
}
