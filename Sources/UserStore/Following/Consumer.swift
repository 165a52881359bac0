extension UserStore {
  /// A consumer of the change log by name, who keeps its position in the database.
  ///
  ///     let mailer = try store.consumer("mailer")
  ///     for try await set in mailer {
  ///       try await send(set)
  ///       try await mailer.acknowledge(set)
  ///     }
  ///
  /// Iterating gives the change sets after the last one that was acknowledged, as a `ChangeFeed` does: pulled from the log,
  /// in commit order, without end. After a crash it goes on right after the last acknowledgement that is on disk: each set
  /// comes at least once, with the same cursor when it comes again (what foreign writers committed may be divided in another
  /// way then). One whose effects are in the store gets it exactly once,
  /// when it acknowledges in the same write:
  ///
  ///     try await store.write { users in
  ///       try mailer.acknowledge(set, in: &users)
  ///       try users.set(.lastMail, of: id, to: now)
  ///     }
  ///
  /// A name has one holder. Whoever takes it anew, in this process or another, takes it away: iterating and acknowledging
  /// fail with `StoreError.Code.superseded` then. All methods may be called on any thread; one iteration at a time makes sense.
  /// Releasing a consumer, outside of transactions, writes what it has acknowledged; so does closing the store.
  public final class Consumer: Sendable {
    /// Where a consumer begins whose name is new.
    public enum Start: Sendable {
      /// At the present end of the log: with the next change.
      case now
      /// With the oldest change that the log still has.
      case oldest
      /// After a cursor, such as that of a state which was read.
      case after(Cursor)
    }

    private let position: ConsumerPosition
    private let consumers: OpenConsumers

    init(_ position: ConsumerPosition, of consumers: OpenConsumers) {
      self.position = position
      self.consumers = consumers
    }

    deinit {
      consumers.release(position)
    }

    /// The name.
    public var name: String { position.seat.name }

    /// Checks a name: 1 to 200 Unicode scalars without control characters.
    ///
    /// - Parameter name: What somebody wants to call a consumer.
    /// - Throws: `StoreError.Code.badValue`.
    public static func checkName(_ name: String) throws(StoreError) {
      try Limits.checkConsumer(name)
    }

    /// The end of the last set that was acknowledged, or where the consumer began.
    ///
    /// - Throws: `StoreError.Code.superseded`, and what reading can throw.
    public var cursor: Cursor {
      get throws(StoreError) { try position.read() }
    }

    // MARK: Acknowledging

    /// Moves the position to the end of a set: neither it nor those before it come again.
    ///
    /// The first acknowledgement is on disk when this returns. Those that come within 100 ms after it are written together
    /// when these are over, also when the task is cancelled: a crash meanwhile makes their sets come again. `flush` writes at
    /// once; the end of an iteration, releasing the consumer and closing the store do too. A set before the position is
    /// acknowledged already: nothing happens.
    ///
    /// - Parameter set: The last one that was dealt with.
    /// - Throws: `StoreError.Code.superseded`, `.diverged` or `.compacted` for a set of another log, `.moved`; and what writing
    ///   can throw: the acknowledgement is kept then, and tried again with the next.
    public func acknowledge(_ set: ChangeSet) async throws(StoreError) {
      try await position.acknowledge(set.cursor)
    }

    /// Moves the position to the end of a set in a write: both are committed together, or neither is.
    ///
    /// A write that does nothing else is no change set, and calls no listener.
    ///
    /// - Parameters:
    ///   - set: The last one that was dealt with.
    ///   - transaction: A write of the store that the consumer is of.
    /// - Throws: `StoreError.Code.superseded`, `.diverged` or `.compacted` for a set of another log, and what writing can throw.
    public func acknowledge(_ set: ChangeSet, in transaction: inout WriteTransaction) throws(StoreError) {
      try position.seat.advance(to: set.cursor, in: &transaction)
    }

    /// Writes at once what was acknowledged.
    ///
    /// - Throws: as `acknowledge`.
    public func flush() async throws(StoreError) {
      try await position.flush()
    }

    /// Begins anew after a cursor, earlier or later, when the log does not go on from the position.
    ///
    /// Read the present state and its cursor in one `read`, and give that cursor. An iteration that was begun before goes on
    /// from where it is: begin another one.
    ///
    /// - Parameter cursor: A cursor of the present log.
    /// - Throws: `StoreError.Code.superseded`, `.diverged` or `.compacted` for a cursor of another log, and what writing can throw.
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

  /// Begins right after the last set that was acknowledged.
  public func makeAsyncIterator() -> Iterator {
    Iterator(position.feed.makeAsyncIterator(), Iteration(of: self, position))
  }

  /// Reads one step at a time; a step is up to 1,000 changes, or 1 MiB.
  public struct Iterator: AsyncIteratorProtocol {
    private var feed: ChangeFeed.Iterator
    private let iteration: Iteration

    fileprivate init(_ feed: ChangeFeed.Iterator, _ iteration: Iteration) {
      self.feed = feed
      self.iteration = iteration
    }

    /// The next change set; nil when the task was cancelled or the store closed.
    public mutating func next() async throws(StoreError) -> UserStore.ChangeSet? {
      try await next(isolation: nil)
    }

    /// The next change set; nil when the task was cancelled or the store closed.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> UserStore.ChangeSet? {
      do {
        if let set = try await feed.next(isolation: actor) { return set }
      } catch {
        try? await iteration.position.flush()
        throw error
      }
      try? await iteration.position.flush()
      return nil
    }
  }

  /// Writes what was acknowledged when the last copy of an iterator goes: a loop that is left with `break` tells nobody.
  fileprivate final class Iteration: Sendable {
    let position: ConsumerPosition
    /// Not released while it is iterated.
    private let consumer: Consumer

    init(of consumer: Consumer, _ position: ConsumerPosition) {
      self.consumer = consumer
      self.position = position
    }

    deinit {
      try? position.flushNow()
    }
  }
}

package typealias Consumer = UserStore.Consumer
