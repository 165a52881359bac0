extension UserStore {
  /// The change sets after a cursor, in commit order: the existing ones, then new ones as they are committed.
  ///
  /// A feed reads from the log when you ask for the next set. A slow reader needs no memory for the sets that it has not
  /// read, does not delay writers, and does not keep the -wal file from being cleaned up. Save the cursor of the last set that
  /// you have processed, and continue right after it later, in this process or another:
  ///
  ///     for try await set in store.changeSets(after: saved) {
  ///       try await handle(set)
  ///       save(set.cursor)
  ///     }
  ///
  /// The log is read on the store's threads: a task that waits for the next set blocks neither its actor nor a thread.
  ///
  /// A feed ends when its task is canceled or the store is closed. It throws `StoreError.Code.compacted`, `.diverged` or
  /// `.replaced` if the log does not continue after the cursor. Then read the current records and their cursor in one `read`,
  /// and start a new feed after that cursor: it misses nothing. If the connection to a server is lost, the feed waits until the
  /// store can connect again.
  public struct ChangeFeed: AsyncSequence, Sendable {
    /// A change set.
    public typealias Element = ChangeSet
    /// The store's error.
    public typealias Failure = StoreError

    /// Reads the next page; nil stands for the start of the iteration.
    typealias Step = @Sendable (_ after: Cursor?) async throws -> LogPage

    private let publication: Publication
    private let interval: Duration?
    private let clock: any Clock<Duration>
    private let step: Step

    /// Creates a feed; `read` reads the next page on a thread of the reader, after the cursor that the iteration has reached, nil
    /// at its start.
    init(
      _ publication: Publication, _ reader: Reader, heartbeat interval: Duration? = nil,
      clock: any Clock<Duration> = ContinuousClock(),
      read: @escaping @Sendable (Cursor?) throws(StoreError) -> LogPage
    ) {
      self.publication = publication
      self.interval = interval
      self.clock = clock
      step = { last in try await reader.awaiting { try read(last) } }
    }

    /// Creates an iterator that starts right after the cursor.
    public func makeAsyncIterator() -> Iterator {
      // Before the first step, so that no ring is lost between a step and the wait after it.
      let rings = publication.rings()
      let heartbeat = interval.map { Heartbeat(every: $0, on: clock, rings) }
      return Iterator(
        isClosed: { [publication] in publication.isClosed }, step: step, ringing: rings.stream.makeAsyncIterator(),
        heartbeat: heartbeat,
        retries: { [clock] in Heartbeat(every: Iterator.retryInterval, on: clock, rings) })
    }

    /// Reads the log in steps of up to 1,000 changes or 1 MiB.
    public struct Iterator: AsyncIteratorProtocol {
      /// Whether the store was closed: sets that are in memory are then not delivered.
      private let isClosed: @Sendable () -> Bool
      fileprivate let step: Step
      fileprivate var ringing: AsyncStream<Void>.Iterator
      fileprivate let heartbeat: Heartbeat?
      /// Rings at regular times while there is no connection to the server.
      fileprivate let retries: @Sendable () -> Heartbeat
      private var cursor: Cursor?
      private var pending: ArraySlice<ChangeSet> = []
      private var hasCaughtUp = false
      /// Limits how long sets in memory are returned without a suspension, because this holds the actor.
      private var turn = ActorTurn()

      /// The time between two attempts to read after the connection to the server was lost.
      static let retryInterval = Duration.seconds(1)

      fileprivate init(
        isClosed: @escaping @Sendable () -> Bool, step: @escaping Step, ringing: AsyncStream<Void>.Iterator,
        heartbeat: Heartbeat?,
        retries: @escaping @Sendable () -> Heartbeat
      ) {
        self.isClosed = isClosed
        self.step = step
        self.ringing = ringing
        self.heartbeat = heartbeat
        self.retries = retries
      }

      /// Waits for the next change set; returns nil when the task is canceled or the store is closed.
      public mutating func next() async throws(StoreError) -> ChangeSet? {
        try await next(isolation: nil)
      }

      /// Waits for the next change set; returns nil when the task is canceled or the store is closed.
      public mutating func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> ChangeSet? {
        while !Task.isCancelled, !isClosed() {
          if let set = pending.popFirst() {
            await turn.yieldIfOver()
            // A set is a sign of life too.
            _ = heartbeat?.isDue()
            return set
          }
          guard let page = try await nextPage(isolation: actor) else { return nil }
          cursor = page.position
          turn = ActorTurn()
          pending = page.sets[...]
          if !pending.isEmpty { continue }
          if let heartbeat, heartbeat.isDue() || (page.isLast && !hasCaughtUp) {
            if page.isLast { hasCaughtUp = true }
            return ChangeSet(
              cursor: page.position, origin: nil, isForeign: false, content: .heartbeat(isUpToDate: page.isLast))
          }
          // The topics may hide a whole page.
          if page.isLast, await ringing.next(isolation: actor) == nil { return nil }
        }
        return nil
      }

      private mutating func nextPage(isolation actor: isolated (any Actor)?) async throws(StoreError) -> LogPage? {
        // Released when the page is read.
        var retrying: Heartbeat?
        while true {
          do { return try await step(cursor) } catch is CancellationError { return nil } catch {
            switch StoreError(error).code {
            case .closed: return nil
            case .connectionLost: retrying = retrying ?? retries()
            default: throw StoreError(error)
            }
          }
          if await ringing.next(isolation: actor) == nil { return nil }
        }
      }
    }
  }
}

/// Wakes an iteration at regular times, until it is released.
private final class Heartbeat: Sendable {
  private let due: Due
  private let task: Task<Void, Never>

  private final class Due: Sendable {
    let state = Lock(false)
  }

  init(every interval: Duration, on clock: any Clock<Duration>, _ rings: Bell.Rings) {
    let due = Due()
    self.due = due
    task = Task { [ring = rings.ring] in
      while (try? await clock.sleep(for: max(interval, .milliseconds(1)))) != nil {
        due.state.withLock { $0 = true }
        ring()
      }
    }
  }

  deinit { task.cancel() }

  /// Returns whether an interval has ended since the last call.
  func isDue() -> Bool { due.state.withLock { exchange(&$0, with: false) } }
}

extension Reader {
  /// Reads one page of whole sets, after checking in the same snapshot that the log continues after the cursor; leaves out the
  /// changes that belong to none of the topics.
  ///
  /// - Throws: `StoreError.Code.compacted`, `.diverged`, `.replaced`, and the codes that every read can throw.
  func page(of topics: [Topic] = [.everything], after cursor: Cursor) throws(StoreError) -> LogPage {
    try page(of: topics, known: cursor) { _ in cursor }
  }

  /// Reads a page in the same way, after the cursor that `start` returns in the snapshot.
  ///
  /// The cursor may be within a set; then the rest of the set is marked as continued. In a set of another program, this
  /// needs `mayContinue`.
  func page(
    of topics: [Topic] = [.everything], mayContinue: Bool = false,
    from start: (inout ReadTransaction) throws(StoreError) -> Cursor
  ) throws(StoreError) -> LogPage {
    try page(of: topics, known: nil, mayContinue: mayContinue, from: start)
  }

  private func page(
    of topics: [Topic], known: Cursor?, mayContinue: Bool = false,
    from start: (inout ReadTransaction) throws(StoreError) -> Cursor
  ) throws(StoreError) -> LogPage {
    try following { () throws(StoreError) in
      var page = try reading(after: known) { transaction throws(StoreError) in
        let cursor = try start(&transaction)
        let session = try transaction.session
        let end = try session.verify(cursor)
        var page = try LogPage(after: cursor, through: end, session, pages: self)
        if mayContinue, page.sets.first?.isForeign == true, page.sets[0].isContinued == false {
          page.sets[0].isContinued = try session.isChange(cursor.revision.rawValue)
        }
        return page
      }
      // A huge set is read after the transaction that verified its log.
      if try page.keep(topics) { try verify(page.position) }
      return page
    }
  }

  /// Checks that the log continues after a cursor; throws as `page(of:after:)`.
  func verify(_ cursor: Cursor) throws(StoreError) {
    try following { () throws(StoreError) in
      try reading { transaction throws(StoreError) in _ = try transaction.session.verify(cursor) }
    }
  }

  /// Throws `replaced` in place of `moved`: the reader of a feed has to know that another log follows.
  func following<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do { return try body() } catch {
      guard error.code == .moved else { throw error }
      throw StoreError(.replaced, "the database file was moved, deleted, or replaced by another file")
    }
  }
}

package typealias ChangeFeed = UserStore.ChangeFeed
