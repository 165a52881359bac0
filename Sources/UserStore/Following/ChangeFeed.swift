extension UserStore {
  /// The change sets after a cursor, in commit order: the existing ones, then new ones as they are committed.
  ///
  /// A feed reads from the log when you ask for the next set. A slow reader needs no memory for the sets that it has not
  /// read, does not delay writers, and does not keep the -wal file from being cleaned up. Save the cursor of the last set that
  /// you have processed, and continue right after it later, in this process or another:
  ///
  ///     for try await set in store.changes(after: saved) {
  ///       try await handle(set)
  ///       save(set.cursor)
  ///     }
  ///
  /// A feed ends when its task is canceled or the store is closed. It throws `StoreError.Code.compacted`, `.diverged` or
  /// `.replaced` if the log does not continue after the cursor. Then read the current records and their cursor in one `read`,
  /// and start a new feed after that cursor: it misses nothing.
  public struct ChangeFeed: AsyncSequence, Sendable {
    /// A change set.
    public typealias Element = ChangeSet
    /// The store's error.
    public typealias Failure = StoreError

    /// Reads the next sets; nil stands for the start of the iteration.
    typealias Step = @Sendable (_ after: Cursor?) throws(StoreError) -> [ChangeSet]

    private let publication: Publication
    private let step: Step

    init(_ publication: Publication, step: @escaping Step) {
      self.publication = publication
      self.step = step
    }

    /// Creates an iterator that starts right after the cursor.
    public func makeAsyncIterator() -> Iterator { Iterator(publication, step: step) }

    /// Reads the log in steps of up to 1,000 changes or 1 MiB.
    public struct Iterator: AsyncIteratorProtocol {
      private var cursor: Cursor?
      private let step: Step
      private var pending: ArraySlice<ChangeSet> = []
      private let rings: AsyncStream<Void>
      private var ringing: AsyncStream<Void>.Iterator

      fileprivate init(_ publication: Publication, step: @escaping Step) {
        self.step = step
        // Before the first step, so that no ring is lost between a step and the wait after it.
        rings = publication.rings()
        ringing = rings.makeAsyncIterator()
      }

      /// Waits for the next change set; returns nil when the task is canceled or the store is closed.
      public mutating func next() async throws(StoreError) -> ChangeSet? {
        try await next(isolation: nil)
      }

      /// Waits for the next change set; returns nil when the task is canceled or the store is closed.
      public mutating func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> ChangeSet? {
        while !Task.isCancelled {
          if let set = pending.popFirst() { return set }
          do {
            let sets = try step(cursor)
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
}

extension Reader {
  /// Reads one page of whole sets, after checking in the same snapshot that the log continues after the cursor.
  ///
  /// `start` returns the cursor, in that snapshot. Throws `StoreError.Code.compacted`, `.diverged` or `.replaced` if the log
  /// does not continue, and the codes that every read can throw.
  func sets(after start: (inout ReadTransaction) throws(StoreError) -> Cursor) throws(StoreError) -> [ChangeSet] {
    do {
      return try reading { transaction throws(StoreError) in
        let cursor = try start(&transaction)
        let session = try transaction.session
        let end = try session.verify(cursor)
        return try LogPage(after: cursor, through: end, session, pages: page).sets
      }
    } catch {
      guard error.code == .moved else { throw error }
      throw StoreError(.replaced, "the database file was moved, deleted, or replaced by another file")
    }
  }
}

package typealias ChangeFeed = UserStore.ChangeFeed
