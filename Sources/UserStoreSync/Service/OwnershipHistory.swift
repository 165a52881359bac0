public import UserStore

extension SyncService {
  /// Which users people owned at each place of the log: somebody who follows it from there sees what was theirs.
  ///
  /// Each part of the log is read once for each person, a microsecond for each change, however many pages they read. What it says of
  /// their users is kept in memory, for the people who asked last.
  public final class OwnershipHistory: Sendable {
    private let store: UserStore
    /// By the subject, of which Swift would find some equal that are not.
    private let known = Lock([StoredValue: Part]())
    /// How many changes of owners are kept: about 24 MB.
    private let limit: Int

    /// Creates a history that has read nothing yet.
    public convenience init(of store: UserStore) { self.init(of: store, limit: 1_000_000) }

    package init(of store: UserStore, limit: Int) { (self.store, self.limit) = (store, limit) }

    /// The access with the users that the subject owned at a place of the log.
    ///
    /// Reads the log in pages, each in a transaction of its own. If it is canceled, the next call goes on where it ended.
    ///
    /// - Parameters:
    ///   - access: The access.
    ///   - cursor: The place.
    /// - Returns: The access.
    /// - Throws: `StoreError.Code.diverged`, `.compacted` and `.behind` for the cursor, the codes that every read can throw, and
    ///   `CancellationError`.
    public func access(_ access: Access, at cursor: UserStore.Cursor) async throws -> Access {
      guard access.ownsUsers else { return access }
      // Who reads all users sees them whose ever they were.
      if access.readableUsers == nil { return try await store.read { try access.resolved(in: &$0) } }
      let subject = access.subject
      try await store.read { users in try users.requireState(from: cursor) }
      var (part, above) = part(of: subject, from: cursor)
      defer { keep(part, of: subject) }
      while true {
        if let known = above, known.start.revision <= part.end.revision {
          part.append(known)
          above = nil
        }
        do {
          let (page, now) = try await store.read { [end = part.end] users in
            let page = try users.changes(after: end)
            return (page, page == nil ? try access.resolved(in: &users) : nil)
          }
          if let page { part.append(page.changes, through: page.next, of: subject) }
          if let now { return now.owning(part.owned(at: cursor)) }
        } catch let error as StoreError where part.end != cursor && [.diverged, .compacted].contains(error.code) {
          // What is known is of another log, or its end was deleted.
          (part, above) = (Part(at: cursor), nil)
        }
      }
    }

    /// Where somebody starts who asks for what follows a place: at the start of the set that it is within, if it is.
    ///
    /// To whom the users of a set belong, only the whole set says. In a file, the log does not tell where a transaction of another program
    /// ends; so from a place that was counted, somebody starts before all of them that follow the last set of the library.
    ///
    /// - Parameters:
    ///   - cursor: The place.
    ///   - isCounted: Whether the place is so many rows before the end of the log; if not, the client has got it as the end of something.
    ///   - access: Who asks; somebody who owns no users starts at the place.
    /// - Returns: The start.
    /// - Throws: `StoreError.Code.diverged`, `.compacted` and `.behind` for the cursor, the codes that every read can throw, and
    ///   `CancellationError`.
    public func start(
      from cursor: UserStore.Cursor, isCounted: Bool = false, for access: Access
    ) async throws -> UserStore.Cursor {
      guard access.ownsUsers else { return cursor }
      return try await store.read { users in
        try users.requireState(from: cursor)
        let (session, revision) = (try users.session, cursor.revision.rawValue)
        if isCounted {
          let oldest = try users.oldestCursor
          let end = try Self.lastEnd(through: revision, after: oldest.revision.rawValue, session)
          return try end.flatMap { try users.cursor(at: UserStore.Revision(rawValue: $0)) } ?? oldest
        }
        guard let end = try session.nextEnd(after: revision, through: .max), end.first > 0, end.first <= revision else {
          return cursor
        }
        if let start = try users.cursor(at: UserStore.Revision(rawValue: end.first - 1)) { return start }
        throw StoreError(.compacted, "the changes before revision \(revision) were deleted")
      }
    }

    /// The end of the last set of the library at a revision or before; nil for none.
    private static func lastEnd(
      through revision: Int64, after oldest: Int64, _ session: any Session
    ) throws(StoreError) -> Int64? {
      var (last, distance, start) = (Int64?.none, Int64(64), revision)
      while last == nil, start > oldest {
        start = max(oldest, revision - distance)
        distance *= 8
        while let end = try session.nextEnd(after: last ?? start, through: revision) { last = end.sequence }
      }
      return last
    }

    /// What is known from a place on, and what is known of the log above that.
    private func part(of subject: String, from cursor: UserStore.Cursor) -> (Part, above: Part?) {
      let known = known.withLock { $0[.text(subject)] }
      guard let known, known.end.epoch == cursor.epoch else { return (Part(at: cursor), nil) }
      return known.start.revision <= cursor.revision ? (known, nil) : (Part(at: cursor), known)
    }

    private func keep(_ part: Part, of subject: String) {
      known.withLock { known in
        known[.text(subject)] = part.weight > limit / 4 ? nil : part
        // Rarely: then they are read again.
        if known.values.reduce(0, { $0 + $1.weight }) > limit { known = [:] }
      }
    }
  }
}

/// What the log says between two places of it about the users of a person.
private struct Part {
  let start: UserStore.Cursor
  private(set) var end: UserStore.Cursor
  /// In the order of the log.
  private(set) var handovers: [(revision: Int64, user: UserStore.User.ID, wasOwn: Bool)] = []

  init(at place: UserStore.Cursor) { (start, end) = (place, place) }

  /// In handovers; what is known of no user takes memory, too.
  var weight: Int { handovers.count + 100 }

  mutating func append(_ changes: [UserStore.Change], through end: UserStore.Cursor, of subject: String) {
    let own = StoredValue.text(subject)
    for change in changes where change.attribute == SyncService.Access.owner {
      if change.old == own || change.new == own {
        handovers.append((change.sequence, change.user, change.old == own))
      }
    }
    self.end = end
  }

  /// Appends what is known of the log after the end of this part.
  mutating func append(_ known: Part) {
    if known.end.revision <= end.revision { return }
    let last = end.revision.rawValue
    handovers += known.handovers.drop { $0.revision <= last }
    end = known.end
  }

  /// The users whose owner has changed since a place, and whether they were own there: what their first change since says.
  func owned(at place: UserStore.Cursor) -> [UserStore.User.ID: Bool] {
    var owned: [UserStore.User.ID: Bool] = [:]
    for handover in handovers.reversed() {
      if handover.revision <= place.revision.rawValue { break }
      owned[handover.user] = handover.wasOwn
    }
    return owned
  }
}
