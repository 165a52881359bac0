extension UserStore {
  /// The changes of one committed `write`, in order.
  ///
  /// What foreign writers (the sqlite3 shell, Python) committed comes as a set too, or several of their transactions
  /// as one: never a part of one. A listener gets the part that belongs to its topic.
  ///
  /// A small set is at hand. A huge one (an import, a foreign UPDATE of everything) is read from the log, page by page,
  /// each time it is iterated, and takes no memory of its size.
  public struct ChangeSet: Sendable {
    /// Where it ends in the log.
    public let cursor: Cursor
    /// What the writer called itself, when it gave `write` an origin.
    ///
    /// As it was given, byte for byte; the library compares it with nothing.
    public let origin: String?
    /// Whether a writer that does not use this library committed it.
    public let isForeign: Bool
    let content: Content
    /// Its place among all rounds of a hub; set when it is queued.
    public internal(set) var position: Int128 = 0

    enum Content: Sendable {
      case held([Change])
      case paged(PagedChanges)
      /// The log does not go on from where it was: the code says why.
      case discontinuity(StoreError.Code)
    }

    /// The position of its end: strictly increasing in one log.
    public var revision: Revision { cursor.revision }

    /// Why the log does not go on from the set before; nil for an ordinary set.
    ///
    /// `diverged` after a restored backup or a lost commit, `replaced` after another file took its place. A set with a
    /// reason has no changes: if you keep a copy, read the present state again. A `Listenable` does this for you. Every
    /// listener receives such a set, whatever its topic, and it may be the first set that it receives.
    public var discontinuity: StoreError.Code? {
      if case .discontinuity(let code) = content { code } else { nil }
    }

    /// All changes as an array: for sets that fit into memory.
    ///
    /// `forEach` is for all others. Empty when the set has a `discontinuity`, which any listener may get at any time: iterate, or
    /// use `first`. `changes[0]` stops the program then.
    ///
    /// - Throws: as `forEach`.
    public var changes: [Change] {
      get throws(StoreError) {
        if case .held(let changes) = content { return changes }
        var changes: [Change] = []
        try forEach { changes.append($0) }
        return changes
      }
    }

    /// Calls `body` with each change, in order; never when the set has a `discontinuity`.
    ///
    /// - Parameter body: Called under no lock and in no transaction.
    /// - Throws: `StoreError.Code.compacted` when a huge set was forgotten meanwhile, and what reading can throw. A set of up to
    ///   1,000 changes and 1 MiB is at hand and throws nothing.
    public func forEach(_ body: (Change) -> Void) throws(StoreError) {
      try iterate { change in
        body(change)
        return true
      }
    }

    /// Calls `body` with each change, in order, until it has enough: the rest of a huge set is not read then.
    ///
    /// - Parameter body: Returns whether it wants more. Called under no lock and in no transaction.
    /// - Throws: as `forEach`.
    public func iterate(while body: (Change) -> Bool) throws(StoreError) {
      switch content {
      case .held(let changes): for change in changes where !body(change) { return }
      case .paged(let pages): try pages.iterate(while: body)
      case .discontinuity: break
      }
    }
  }
}

extension UserStore.ChangeSet: Routable {
  @usableFromInline struct Action: ListenerAction {
    private let body: @Sendable (ChangeSet) throws -> Void

    @usableFromInline init(_ body: @escaping @Sendable (UserStore.ChangeSet) throws -> Void) { self.body = body }
    @usableFromInline func callAsFunction(_ set: UserStore.ChangeSet) throws { try body(set) }
  }

  /// Divides the changes among the topics that somebody listens to.
  @usableFromInline func parts(for bound: BoundTopics<UserStore.Topic>) -> [(
    topic: UserStore.Topic, part: UserStore.ChangeSet
  )]? {
    switch content {
    case .held(let changes): Self.divide(changes, bound).map { ($0, with(.held($1))) }
    case .paged(let pages): pages.divide(for: bound).map { ($0, with($1)) }
    case .discontinuity: nil
    }
  }

  /// The changes of each bound topic.
  static func divide(_ changes: [Change], _ bound: BoundTopics<Topic>) -> [(Topic, [Change])] {
    // By far the most sets have one change.
    if changes.count == 1 { return bound.topics(of: changes[0]).map { ($0, changes) } }
    var parts: [Topic: [Change]] = [:]
    for change in changes {
      for topic in change.topics where bound.contains(topic) { parts[topic, default: []].append(change) }
    }
    return parts.map { ($0, $1) }
  }

  func with(_ content: Content) -> ChangeSet {
    var part = ChangeSet(cursor: cursor, origin: origin, isForeign: isForeign, content: content)
    part.position = position
    return part
  }
}

extension BoundTopics<Topic> {
  /// Those that a change belongs to; few are asked themselves, which is quicker than to look for the change's own.
  fileprivate func topics(of change: Change) -> [Topic] {
    // Few by its room: going through a table that was large once takes long even when hardly anything is left in it.
    lists.capacity < 8 ? lists.keys.filter { $0.contains(change) } : change.topics.filter { contains($0) }
  }
}

extension UserStore.ChangeSet {
  init(cursor: Cursor, origin: String?, isForeign: Bool, content: Content) {
    self.cursor = cursor
    self.origin = origin
    self.isForeign = isForeign
    self.content = content
  }

  /// Without what stands at or before `sequence`; nil when nothing is left.
  func dropping(through sequence: Int64) -> ChangeSet? {
    guard revision.rawValue > sequence else { return nil }
    switch content {
    case .held(let changes):
      // By far the most often nothing of it was given.
      if let first = changes.first, first.sequence > sequence { return self }
      return with(.held(changes.filter { $0.sequence > sequence }))
    case .paged(let pages): return with(.paged(pages.dropping(through: sequence)))
    case .discontinuity: return self
    }
  }
}

package typealias ChangeSet = UserStore.ChangeSet
