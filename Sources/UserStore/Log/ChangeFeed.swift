/// The change sets after a cursor, in commit order, without end: those that are there, then those to come.
///
/// Pulled from the log: nothing is kept in memory for a slow consumer, who neither delays a writer nor keeps the log
/// file from being cleaned up. A consumer that saves the cursor of the last set that it has dealt with goes on right
/// after it, in this process or another.
///
///     for try await set in store.changes(after: saved) {
///       try await handle(set)
///       save(set.cursor)
///     }
///
/// It ends when its task is cancelled or the store is closed. It fails with `StoreError.compacted`, `.diverged` or
/// `.replaced` when the log does not go on from the cursor; reading the present state with `read`, and going on after the
/// cursor of that transaction, misses nothing.
public struct ChangeFeed: AsyncSequence, Sendable {
  /// A change set.
  public typealias Element = ChangeSet
  /// The store's error.
  public typealias Failure = StoreError

  private let cursor: Cursor
  private let reader: Reader
  private let bell: Bell

  init(after cursor: Cursor, reader: Reader, bell: Bell) {
    self.cursor = cursor
    self.reader = reader
    self.bell = bell
  }

  /// Begins right after the cursor.
  public func makeAsyncIterator() -> Iterator {
    Iterator(after: cursor, reader: reader, bell: bell)
  }

  /// Reads one step at a time; a step is up to 1,000 changes, or 1 MiB.
  public struct Iterator: AsyncIteratorProtocol {
    private var cursor: Cursor
    private let reader: Reader
    private var pending: ArraySlice<ChangeSet> = []
    private let rings: AsyncStream<Void>
    private var ringing: AsyncStream<Void>.Iterator

    fileprivate init(after cursor: Cursor, reader: Reader, bell: Bell) {
      self.cursor = cursor
      self.reader = reader
      // Before the first look, so that no ring is lost between a look and the waiting for the next.
      rings = bell.rings()
      ringing = rings.makeAsyncIterator()
    }

    /// The next change set; nil when the task was cancelled or the store closed.
    public mutating func next() async throws(StoreError) -> ChangeSet? {
      try await next(isolation: nil)
    }

    /// The next change set; nil when the task was cancelled or the store closed.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> ChangeSet? {
      while !Task.isCancelled {
        if let set = pending.popFirst() { return set }
        do {
          let sets = try reader.sets(after: cursor)
          pending = sets[...]
          cursor = sets.last?.cursor ?? cursor
          if !sets.isEmpty { continue }
        } catch {
          if error.code == .closed { return nil }
          throw error
        }
        if await ringing.next(isolation: actor) == nil { return nil }
      }
      return nil
    }
  }
}

extension Reader {
  /// One step of a feed: a snapshot, from which it is seen that the log goes on from the cursor, and a page of it.
  ///
  /// - Parameter cursor: The end of a set; nil for the horizon, which moves between two transactions.
  /// - Returns: whole sets; none at the end of the log.
  /// - Throws: `StoreError.compacted`, `StoreError.diverged`, `StoreError.replaced`, and what reading can throw.
  func sets(after cursor: Cursor?) throws(StoreError) -> [ChangeSet] {
    do {
      return try reading { transaction throws(StoreError) in
        let cursor = if let cursor { cursor } else { try ChangeLog.horizon(&transaction.lease.connection) }
        let end = try ChangeLog.verify(cursor, &transaction.lease.connection)
        return try LogPage(after: cursor, through: end, &transaction.lease.connection, pages: page).sets
      }
    } catch {
      guard error.code == .moved else { throw error }
      throw StoreError(.replaced, "another file took the place of the database, or it was moved or deleted")
    }
  }
}
