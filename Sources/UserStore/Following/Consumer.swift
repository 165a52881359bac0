extension UserStore {
  /// A named consumer of the change log, which keeps its position in the database.
  ///
  ///     let mailer = try await store.consumer("mailer")
  ///     for try await set in mailer {
  ///       try await send(set)
  ///       try await mailer.acknowledge(set)
  ///     }
  ///
  /// An iteration delivers the change sets after the last acknowledged one, as a `ChangeFeed` does: in commit order, read from
  /// the log when you ask for the next set. After a crash, it continues after the last acknowledgment on disk. So each set is
  /// delivered at least once. A redelivered set that this library wrote has the same cursor. Changes by other programs may be
  /// divided into sets differently. If the effects of a set are in the store, acknowledge it in the same write: then it takes
  /// effect exactly once. To repeat less than a whole set, such as an import, acknowledge inside it
  /// (`acknowledge(_:through:)`).
  ///
  ///     try await store.write { users in
  ///       try mailer.acknowledge(set, in: &users)
  ///       try users.set(.lastMail, of: id, to: now)
  ///     }
  ///
  /// A name has one holder. Claiming the name again, in this process or another, takes it over from its current holder, whose
  /// iterations and acknowledgments then throw `StoreError.Code.superseded`. All methods may be called on any thread. Run only
  /// one iteration at a time. Acknowledgments that are not on disk yet are written soon after an iteration ends or you release
  /// the consumer, and before `UserStore.close` returns.
  public final class Consumer: Sendable {
    /// Where a consumer with a new name starts.
    public enum Start: Sendable {
      /// At the current end of the log, with the next change: the default.
      case now
      /// With the oldest change in the log, which may be weeks old.
      ///
      /// By default, the log keeps the changes of 30 days (`RetentionPolicy`): check that the effects may happen for them too.
      case oldest
      /// After a cursor, for example of a snapshot that you have read.
      case after(Cursor)
    }

    private let position: ConsumerPosition
    private let consumers: OpenConsumers

    init(_ position: ConsumerPosition, of consumers: OpenConsumers) {
      self.position = position
      self.consumers = consumers
    }

    deinit { consumers.release(position) }

    /// The consumer's name.
    public var name: String { position.claim.name }

    /// Throws `StoreError.Code.badValue` unless a name is 1 to 200 Unicode scalars without control characters.
    package static func checkName(_ name: String) throws(StoreError) {
      try Limits.checkConsumer(name)
    }

    /// Returns the end of what was acknowledged, or where the consumer started.
    ///
    /// This includes sets that the consumer's topics hide, once an iteration has read them.
    ///
    /// - Throws: `StoreError.Code.superseded`, and any other `StoreError` if reading fails.
    public func cursor() throws(StoreError) -> Cursor { try position.read() }

    /// Returns the cursor as the synchronous `cursor` does, and reads it on one of the store's threads.
    public func cursor() async throws -> Cursor { try await position.readLater() }

    // MARK: Acknowledging

    /// Moves the position to the end of a set, so that this set and those before it are not delivered again; or to a change inside
    /// it, after which the set is later continued.
    ///
    ///     for try await set in mailer {
    ///       try await set.forEach { change in
    ///         try await send(change)
    ///         try await mailer.acknowledge(set, through: change)
    ///       }
    ///       try await mailer.acknowledge(set)
    ///     }
    ///
    /// So a consumer that is killed in the middle of an import does not repeat all of it. An iteration that starts then
    /// receives the rest of the set, which says that it is continued (`ChangeSet.isContinued`). After the last change that was
    /// delivered, the whole set is acknowledged.
    ///
    /// The first acknowledgment is on disk when this returns. Those within the next 100 ms are written together at the end of
    /// this time, even if the task is canceled; after a crash before that, their sets are delivered again. The end of an
    /// iteration, releasing the consumer, closing the store, and `flush` do not wait for this time. A set up to the position is
    /// ignored.
    ///
    /// - Parameters:
    ///   - set: The last set that you have processed, or that you are processing.
    ///   - change: The last change of the set that you have processed; nil for all.
    /// - Throws: `StoreError.Code.superseded`; `.badValue` for a change that is after the set; `.diverged` or `.compacted` if the
    ///   log does not continue after the set; `.moved`; and any other `StoreError` if writing fails: then the acknowledgment is
    ///   kept, and written with the next one.
    public func acknowledge(_ set: ChangeSet, through change: Change? = nil) async throws(StoreError) {
      try await position.acknowledge(set, through: change?.sequence)
    }

    /// Moves the position to a change or an event inside a set, as `acknowledge` with a change does.
    ///
    ///     for event in set.events {
    ///       try await deliver(event)
    ///       try await mailer.acknowledge(set, through: .event(event))
    ///     }
    public func acknowledge(_ set: ChangeSet, through entry: Entry) async throws(StoreError) {
      try await position.acknowledge(set, through: entry.sequence)
    }

    /// Moves the position to the end of a set, or to a change inside it, as part of a write: both are committed together, or neither
    /// is.
    ///
    /// So effects in the store happen exactly once, even those of a set that takes many writes. A write that only acknowledges
    /// creates no change set and calls no listener.
    ///
    /// - Parameters:
    ///   - set: The last set that you have processed, or that you are processing.
    ///   - change: The last change of the set that you have processed; nil for all.
    ///   - transaction: A write of the consumer's store.
    /// - Throws: `StoreError.Code.superseded`; `.badValue` for a change that is after the set; `.diverged`, `.compacted`, and any
    ///   other `StoreError` if writing fails.
    public func acknowledge(
      _ set: ChangeSet, through change: Change? = nil, in transaction: inout WriteTransaction
    ) throws(StoreError) {
      try advance(through: change?.sequence, of: set, in: &transaction)
    }

    /// Moves the position to a change or an event inside a set as part of a write, as `acknowledge` with a change does.
    public func acknowledge(
      _ set: ChangeSet, through entry: Entry, in transaction: inout WriteTransaction
    ) throws(StoreError) {
      try advance(through: entry.sequence, of: set, in: &transaction)
    }

    private func advance(
      through sequence: Int64?, of set: ChangeSet, in transaction: inout WriteTransaction
    ) throws(StoreError) {
      try position.claim.advance(to: position.claim.cursor(at: sequence, in: set, &transaction), in: &transaction)
    }

    /// Writes all acknowledgments to disk now.
    ///
    /// - Throws: The same errors as `acknowledge`.
    public func flush() async throws(StoreError) {
      try await position.flush()
    }

    /// Moves the position to a cursor, earlier or later, for example if the log does not continue after the position.
    ///
    /// In this case, read the current records and their cursor in one `read`, and pass this cursor. An iteration that has
    /// already started is not moved: start a new one.
    ///
    /// - Parameter cursor: A cursor of the current log.
    /// - Throws: `StoreError.Code.superseded`; `.diverged` or `.compacted` if the log does not continue after the cursor; and any
    ///   other `StoreError` if writing fails.
    public func reset(to cursor: Cursor) async throws(StoreError) {
      try await position.reset(to: cursor)
    }
  }
}

// MARK: Iterating

extension UserStore.Consumer: AsyncSequence {
  /// A change set.
  public typealias Element = UserStore.ChangeSet
  /// The store's error.
  public typealias Failure = StoreError

  /// Creates an iterator that starts right after the last acknowledged set.
  public func makeAsyncIterator() -> Iterator {
    Iterator(feed: position.feed.makeAsyncIterator(), iteration: Iteration(of: self))
  }

  /// Reads the log in steps of up to 1,000 changes or 1 MiB.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var feed: ChangeFeed.Iterator
    fileprivate let iteration: Iteration

    /// Waits for the next change set; returns nil when the task is canceled or the store is closed.
    public mutating func next() async throws(StoreError) -> UserStore.ChangeSet? {
      try await next(isolation: nil)
    }

    /// Waits for the next change set; returns nil when the task is canceled or the store is closed.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> UserStore.ChangeSet? {
      do {
        if let set = try await feed.next(isolation: actor) { return set }
      } catch {
        try? await iteration.consumer.position.flush()
        throw error
      }
      try? await iteration.consumer.position.flush()
      return nil
    }
  }

  /// Writes acknowledgments when the last copy of an iterator is released, because `break` ends a loop without a call.
  fileprivate final class Iteration: Sendable {
    /// Retained, so that it is not released while it is iterated.
    let consumer: Consumer

    init(of consumer: Consumer) {
      self.consumer = consumer
    }

    deinit { consumer.position.flushSoon() }
  }
}

package typealias Consumer = UserStore.Consumer
