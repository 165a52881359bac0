extension UserStore {
  /// The changes and the events of one committed `write`, in order.
  ///
  /// The transactions of foreign writers, which do not use this library (the sqlite3 shell, Python), are delivered as sets too.
  /// One set may contain several such transactions, but always whole ones. A listener receives the changes of its topic.
  ///
  /// A small set is in memory. A huge one (an import, a foreign UPDATE of all users) is read from the log page by page, each
  /// time you iterate it, so that it takes little memory.
  public struct ChangeSet: Sendable {
    /// The end of the set in the log.
    public let cursor: Cursor
    /// The `origin` that the writer gave to `write`, byte for byte; the library does not interpret it.
    ///
    /// The origin is nil if the writer gave none, and for a foreign writer. An empty origin stays empty.
    public let origin: String?
    /// Whether a foreign writer committed the set.
    public let isForeign: Bool
    /// Whether the first changes of the set are missing, because the feed or the consumer started within the set.
    ///
    /// A consumer starts within a set if `acknowledge(_:through:)` moved it there; a feed, if its cursor is a revision within the
    /// set. The cursor and the origin are those of the whole set.
    ///
    /// A file does not record where the transactions of foreign writers end. So the first foreign set that a consumer receives
    /// from a file is also marked as continued if the change before it is foreign, even one of another transaction.
    public internal(set) var isContinued = false
    /// Whether the set came from the server of a replica, which has its origin; a set that a copy made has none.
    ///
    /// A consumer that writes must skip such a set if it runs at several replicas: they would answer each other forever.
    public internal(set) var isPulled = false
    let content: Content
    /// The position of this set in the order of all deliveries of the store; set when it is queued for delivery.
    @usableFromInline var position: Int128 = 0

    enum Content: Sendable {
      case held(Entries)
      case paged(PagedChanges)
      case discontinuity(StoreError.Code)
      case heartbeat(isUpToDate: Bool)
    }

    /// The row number at which the set ends in the log: strictly increasing in one log.
    public var revision: Revision { cursor.revision }

    /// The reason why the log does not continue after the previous set; nil for an ordinary set.
    ///
    /// The code is one of these:
    ///
    /// - `compacted`: changes after the previous set were deleted before this process read them.
    /// - `diverged`: a backup was restored, a commit was lost, triggers were missing for a while, or rows of the log are missing.
    /// - `replaced`: another file was put in place of the open one.
    ///
    /// A set with a reason has no changes: if you keep a copy of the records, read them again. A `Listenable` does this for you.
    /// Every listener of any topic receives such a set, and it may be the first set that it receives.
    public var discontinuity: StoreError.Code? {
      if case .discontinuity(let code) = content { code } else { nil }
    }

    /// How far a feed has read when it delivers this set as a heartbeat.
    public enum Heartbeat: Sendable {
      /// There is more to read.
      case behind
      /// The feed had reached the end of the log.
      case upToDate
    }

    /// How far the feed has read, if this set is a heartbeat; nil for an ordinary set.
    ///
    /// A heartbeat has no changes. Only a feed that was created with a heartbeat delivers it. Its cursor is after everything
    /// that the feed has read, including sets that its topics hide.
    public var heartbeat: Heartbeat? {
      if case .heartbeat(let isUpToDate) = content { isUpToDate ? .upToDate : .behind } else { nil }
    }

    /// All changes as an array, for sets that fit into memory; use `forEach` for others.
    ///
    /// The changes of a huge set are read on the calling thread. Empty if the set has a `discontinuity`, which any listener may
    /// receive at any time: iterate, or use `first`, because `changes[0]` would stop the program.
    ///
    /// - Throws: The errors of `forEach`.
    public var changes: [Change] {
      get throws(StoreError) {
        if case .held(let entries) = content { return entries.changes }
        var changes: [Change] = []
        do { try forEach { changes.append($0) } } catch { throw StoreError(error) }
        return changes
      }
    }

    /// All events as an array, read as `changes` are.
    ///
    /// - Throws: The errors of `forEach`.
    public var events: [Event] {
      get throws(StoreError) {
        if case .held(let entries) = content { return entries.events }
        return try entries.compactMap { if case .event(let event) = $0 { event } else { nil } }
      }
    }

    /// All changes and events as an array, in the order in which they were written; read as `changes` are.
    ///
    /// - Throws: The errors of `forEach`.
    public var entries: [Entry] {
      get throws(StoreError) {
        var entries: [Entry] = []
        do {
          try iterateEntries { entry in
            entries.append(entry)
            return true
          }
        } catch { throw StoreError(error) }
        return entries
      }
    }

    /// Calls a closure with each change, in order; never if the set has a `discontinuity`.
    ///
    /// - Parameter body: Called without holding a lock, and outside of any transaction; what it throws ends the iteration.
    /// - Throws: `StoreError.Code.compacted` if a huge set was deleted meanwhile, the errors of reading, and what `body` throws. A
    ///   set of up to 1,000 changes and 1 MiB is in memory and throws nothing of its own.
    public func forEach(_ body: (Change) throws -> Void) throws {
      try iterate { change in
        try body(change)
        return true
      }
    }

    /// Calls a closure with each change, in order, until it returns false; the rest of a huge set is not read then.
    ///
    /// - Parameter body: Returns whether to continue. Called without holding a lock, and outside of any transaction; what it
    ///   throws ends the iteration.
    /// - Throws: The errors of `forEach`.
    public func iterate(while body: (Change) throws -> Bool) throws {
      switch content {
      case .held(let entries): for change in entries.changes where try !body(change) { return }
      case .paged(let pages): try pages.iterate { try $0.changes.allSatisfy(body) }
      case .discontinuity, .heartbeat: break
      }
    }

    /// Calls a closure with each change, in order, and reads a huge set on a thread of the store.
    ///
    /// - Parameter body: Called on the actor of the caller; what it throws ends the iteration.
    /// - Throws: What the synchronous `forEach` throws, `CancellationError`, and what `body` throws.
    public func forEach(_ body: (Change) throws -> Void) async throws {
      try await iterate { change in
        try body(change)
        return true
      }
    }

    /// Calls an async closure with each change, in order, and reads a huge set on a thread of the store.
    ///
    /// The next page of a huge set is read when the closure has returned for the changes before it, so that a slow reader, such as
    /// a client of a server, has one page in memory.
    ///
    /// - Parameter body: Called on the actor of the caller; what it throws ends the iteration.
    /// - Throws: What the synchronous `forEach` throws, `CancellationError`, and what `body` throws.
    public func forEach(_ body: (Change) async throws -> Void) async throws {
      switch content {
      case .held(let entries): for change in entries.changes { try await body(change) }
      case .paged(let pages):
        try await pages.forEach { entries in for change in entries.changes { try await body(change) } }
      case .discontinuity, .heartbeat: break
      }
    }

    /// Calls a closure with each change and each event, in order, until it returns false; as `iterate` does with the changes.
    ///
    /// - Throws: What `iterate` throws.
    public func iterateEntries(while body: (Entry) throws -> Bool) throws {
      switch content {
      case .held(let entries): _ = try entries.merged.allSatisfy(body)
      case .paged(let pages): try pages.iterate { try $0.merged.allSatisfy(body) }
      case .discontinuity, .heartbeat: break
      }
    }

    /// Calls a closure with each change and each event, in order, until it returns false; as the async `iterate` does with the
    /// changes.
    ///
    /// - Throws: What the async `iterate` throws.
    public func iterateEntries(while body: (Entry) throws -> Bool) async throws {
      switch content {
      case .held(let entries): _ = try entries.merged.allSatisfy(body)
      case .paged(let pages): try await pages.iterate { try $0.merged.allSatisfy(body) }
      case .discontinuity, .heartbeat: break
      }
    }

    /// Calls a closure with each change, in order, until it returns false, and reads a huge set on a thread of the store.
    ///
    /// - Parameter body: Returns whether to continue. Called on the actor of the caller; what it throws ends the iteration.
    /// - Throws: What the synchronous `forEach` throws, `CancellationError`, and what `body` throws.
    public func iterate(while body: (Change) throws -> Bool) async throws {
      switch content {
      case .held(let entries): for change in entries.changes where try !body(change) { return }
      case .paged(let pages): try await pages.iterate { try $0.changes.allSatisfy(body) }
      case .discontinuity, .heartbeat: break
      }
    }
  }
}

extension UserStore.ChangeSet: Positioned {
  @usableFromInline func dropping(through position: Int128) -> UserStore.ChangeSet? {
    if self.position <= position { return nil }
    return reaches(across: position) ? dropping(through: Revision(at: position).rawValue) : self
  }

  /// Whether a state that was read at `position` includes some of the changes, but not all.
  func reaches(across position: Int128) -> Bool {
    // Revisions of different logs cannot be compared.
    guard position < self.position, Revision.log(at: position) == Revision.log(at: self.position) else { return false }
    let sequence = Revision(at: position).rawValue
    return switch content {
    case .held(let entries): entries.first.map { $0 <= sequence } ?? false
    case .paged(let pages): pages.start < sequence
    case .discontinuity, .heartbeat: false
    }
  }
}

extension UserStore.ChangeSet {
  func with(_ content: Content) -> ChangeSet {
    ChangeSet(
      cursor: cursor, origin: origin, isForeign: isForeign, isContinued: isContinued, isPulled: isPulled,
      content: content,
      position: position)
  }

  /// The changes, if they are in memory; nil for a huge set and for a discontinuity.
  var heldChanges: [Change]? {
    if case .held(let entries) = content { entries.changes } else { nil }
  }

  /// The row of the last change or event, if they are in memory; nil for a huge set.
  var lastHeldEntry: Int64? {
    if case .held(let entries) = content { entries.last } else { nil }
  }

  /// Whether the set has only notes that are not for delivery.
  var isHidden: Bool {
    if case .held(let entries) = content { entries.isEmpty && entries.hasNotes } else { false }
  }

  /// The set without the changes through `sequence`; nil if it ends there or before.
  func dropping(through sequence: Int64) -> ChangeSet? {
    guard revision.rawValue > sequence else { return nil }
    switch content {
    case .held(let entries):
      // Nearly always, the whole set is new.
      if let first = entries.first, first > sequence { return self }
      return with(.held(entries.after(sequence)))
    case .paged(let pages): return with(.paged(pages.dropping(through: sequence)))
    case .discontinuity, .heartbeat: return self
    }
  }

  /// The entries of some topics, with the same cursor; nil if there are none.
  func part(of topics: [Topic]) throws(StoreError) -> ChangeSet? {
    switch content {
    case .held(let entries):
      let kept = entries.of(topics)
      return kept.isEmpty ? nil : with(.held(kept))
    case .paged(let pages): return try pages.content(of: topics).map { with($0) }
    case .discontinuity, .heartbeat: return self
    }
  }
}

extension UserStore.ChangeSet: Routable {
  @usableFromInline struct Action: ListenerAction {
    private let body: @Sendable (ChangeSet) throws -> Void

    @usableFromInline init(_ body: @escaping @Sendable (UserStore.ChangeSet) throws -> Void) { self.body = body }
    @usableFromInline func callAsFunction(_ set: UserStore.ChangeSet) throws { try body(set) }
  }

  /// Divides the entries among the topics that have listeners.
  @usableFromInline func parts(for bound: BoundTopics<UserStore.Topic>) -> [(
    topic: UserStore.Topic, part: UserStore.ChangeSet
  )]? {
    switch content {
    case .held(let entries): entries.divided(among: bound).map { ($0, with(.held($1))) }
    case .paged(let pages): pages.divide(for: bound).map { ($0, with($1)) }
    case .discontinuity, .heartbeat: nil
    }
  }
}

package typealias ChangeSet = UserStore.ChangeSet
