import UserStore

/// An answer of changes in the making.
struct ChangesAnswer {
  private var lines = SyncAnswer.Lines()
  /// Through which the log was read: the end of a set.
  private(set) var cursor: Cursor
  private(set) var part: Cursor?
  private var head: Cursor
  /// The access at the cursor: users get and lose an owner in the log.
  private var access: SyncService.Access

  init(at cursor: Cursor, for access: SyncService.Access) {
    (self.cursor, head, self.access) = (cursor, cursor, access)
  }

  var byteCount: Int { lines.bytes.count }
  var isEmpty: Bool { lines.bytes.isEmpty }
  /// Whether there is nothing to send, and nothing more to read.
  var isPending: Bool { isEmpty && !hasMore }
  var hasMore: Bool { part != nil || cursor.revision < head.revision }

  /// - Throws: `StoreError.Code.diverged` after a set in which a user was handed over: the replica has to copy.
  mutating func append(_ found: LogPart, _ scope: SyncService.Scope) throws(StoreError) {
    let pieces = found.pieces.prefix(scope.limits.sets)
    var scope = scope
    for piece in pieces {
      let (after, isHandedOver) = access.follow(piece.entries.lazy.compactMap(\.entry))
      if isHandedOver { throw StoreError(.diverged, "a user has got another owner") }
      // To whom its users belong, only the whole set says.
      if access.ownsUsers, piece.isContinued || piece.end == nil {
        throw StoreError(.diverged, "the set is too large to be shown to somebody who owns users")
      }
      scope.access = access
      access = after
      let shown = piece.entries.filter { entry in
        // Every reader sees a purge: it may have had the user before, and the id is all that it says. A random number says nothing.
        entry.entry.map { scope.shows($0) } ?? true
      }
      // A replica learns from the answer to its own request what became of a set in which it sees nothing.
      let isShown = piece.isContinued || piece.end == nil || shown.contains { !$0.isPushed }
      // Who does not see all does not learn who wrote a hidden set, which is shown only because it comes in parts.
      let isHidden = !access.readsAll && !shown.contains { $0.entry != nil }
      if isShown { for entry in shown where !isHidden || !entry.isPushed { lines.append(entry.json) } }
      // The last part of a huge set has its end, even if only earlier parts show anything.
      if let end = piece.end, isShown {
        lines.append([
          ("cursor", .text(end.description)), ("op", .text("set")),
          ("origin", isHidden ? .null : piece.origin.map { .text($0) } ?? .null),
        ])
      }
    }
    (cursor, part, head) = (found.position, found.part, found.head)
    if pieces.count < found.pieces.count, let end = pieces.last?.end { (cursor, part) = (end, nil) }
  }

  func finished(
    asked: (after: Cursor, part: Cursor?, also: Cursor?), _ scope: SyncService.Scope
  ) -> SyncAnswer {
    func text(_ cursor: Cursor?) -> JSON { cursor.map { .text($0.description) } ?? .null }
    var whole = SyncAnswer.Lines()
    whole.append([
      ("op", .text("changes")), ("after", text(asked.after)), ("also", text(asked.also)), ("part", text(asked.part)),
      ("grant", .text(scope.grant)),
    ])
    var end = SyncAnswer.Lines()
    end.append([
      ("op", .text("end")), ("cursor", text(cursor)), ("part", text(part)), ("more", .bool(hasMore)),
      ("head", text(head)),
    ])
    // A full page of the past: later, only a purge changes its lines, and the end of the log, which it names too, may be another one.
    let isPast = hasMore && asked.also == nil && scope.showsAll
    let etag = isPast ? "W/\"\(asked.part ?? asked.after)-\(lines.bytes.fingerprint)\"" : nil
    return SyncAnswer(contentType: SyncAnswer.lines, etag: etag, body: whole.bytes + lines.bytes + end.bytes)
  }
}

extension LogPart.Entry {
  /// The change or the event; nil for a note.
  fileprivate var entry: UserStore.Entry? { if case .entry(let entry) = self { entry } else { nil } }

  fileprivate var isPushed: Bool { if case .pushed = self { true } else { false } }

  fileprivate var json: String {
    switch self {
    case .entry(.change(let change)): change.json
    case .entry(.event(let event)): event.json
    case .purged(let user):
      JSON.object([("op", .text("purged")), ("user", .integer(user.rawValue))]).description
    case .pushed(let nonce): JSON.object([("op", .text("pushed")), ("nonce", .text("\(nonce)"))]).description
    }
  }
}
