extension UserStore {
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
  /// It ends when its task is cancelled or the store is closed. It fails with `StoreError.Code.compacted`, `.diverged` or
  /// `.replaced` when the log does not go on from the cursor; reading the present state with `read`, and going on after the
  /// cursor of that transaction, misses nothing.
  public struct ChangeFeed: AsyncSequence, Sendable {
    /// A change set.
    public typealias Element = ChangeSet
    /// The store's error.
    public typealias Failure = StoreError

    /// Reads the next sets; nil stands for where the iteration begins.
    typealias Step = @Sendable (_ after: Cursor?) throws(StoreError) -> [ChangeSet]

    private let publication: Publication
    private let step: Step

    init(_ publication: Publication, step: @escaping Step) {
      self.publication = publication
      self.step = step
    }

    /// Begins right after the cursor.
    public func makeAsyncIterator() -> Iterator {
      Iterator(publication, step: step)
    }

    /// Reads one step at a time; a step is up to 1,000 changes, or 1 MiB.
    public struct Iterator: AsyncIteratorProtocol {
      private var cursor: Cursor?
      private let step: Step
      private var pending: ArraySlice<ChangeSet> = []
      private let rings: AsyncStream<Void>
      private var ringing: AsyncStream<Void>.Iterator

      fileprivate init(_ publication: Publication, step: @escaping Step) {
        self.step = step
        // Before the first look, so that no ring is lost between a look and the waiting for the next.
        rings = publication.rings()
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
  /// One step of a feed: a snapshot, from which it is seen that the log goes on from the cursor, and a page of it.
  ///
  /// - Parameter start: Says in the same snapshot after which cursor.
  /// - Returns: whole sets, in order; none when there are no more.
  /// - Throws: `StoreError.Code.compacted`, `StoreError.Code.diverged`, `StoreError.Code.replaced`, and what reading can throw.
  func sets(
    after start: (inout ReadTransaction) throws(StoreError) -> Cursor
  ) throws(StoreError) -> [ChangeSet] {
    do {
      return try reading { transaction throws(StoreError) in
        let cursor = try start(&transaction)
        let session = try transaction.session
        let end = try session.verify(cursor)
        return try LogPage(after: cursor, through: end, session, pages: page).sets
      }
    } catch {
      guard error.code == .moved else { throw error }
      throw StoreError(.replaced, "another file took the place of the database, or it was moved or deleted")
    }
  }
}

package typealias ChangeFeed = UserStore.ChangeFeed
