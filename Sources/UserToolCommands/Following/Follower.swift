import UserStore
import UserStoreText

/// Prints the log until it has printed enough lines or is canceled.
///
/// It pulls from the log, so a slow reader of the output neither delays a writer nor takes memory.
struct Follower {
  /// Where to start, and where to save the position.
  enum Start: Sendable {
    case currentState
    case after(Cursor)
    case file(CursorFile)
    /// The name of a consumer, whose position is in the database.
    case consumer(String)
  }

  let watch: WatchCommand
  private let beginning: Start
  /// The listeners whose calls are printed; nil to print changes.
  private let standIns: [StandIn]?
  private var printer: StreamPrinter
  /// The end of the last set that was printed in full; nil before the first.
  private var position: Cursor?
  private var consumer: Consumer?
  private var isReady = false

  init(_ watch: WatchCommand, from start: Start) {
    (self.watch, beginning) = (watch, start)
    standIns = watch.perChange ? nil : watch.listening.standIns
    printer = StreamPrinter(
      watch.common.streamFormat, to: Output(), watch.common.style,
      filter: Filter(attributes: watch.attributes, operations: Set(watch.operations)), standIns: standIns,
      remaining: watch.once ? 1 : watch.count)
  }

  /// Whether all requested lines are printed.
  var isDone: Bool { printer.isDone }

  mutating func run() async throws {
    guard var store = try await open() else { return finish() }
    defer { store.close() }
    var reset: StoreError.Code?
    while true {
      do {
        guard let cursor = try await start(store, after: reset) else { return finish() }
        if let consumer { try await follow(consumer) } else { try await follow(store.changeSets(after: cursor)) }
        return finish()
      } catch let error as StoreError where [.compacted, .diverged, .replaced, .moved].contains(error.code) {
        if watch.refusesResync {
          throw Failure(error, hint: "without --no-resync, watch continues from the current state")
        }
        // A consumer that writes to a replaced file gets `moved`.
        reset = error.code == .moved ? .replaced : error.code
        if reset == .replaced {
          await store.close()
          guard let next = try await open(isReplaced: true) else { return finish() }
          store = next
        }
      }
    }
  }

  // MARK: Starting

  private func open(isReplaced: Bool = false) async throws -> UserStore? {
    let access: Configuration.Access = if case .consumer = beginning { .readWrite } else { .readOnly }
    return try await watch.common.openWaiting(access, isReplaced: isReplaced)
  }

  /// Finds the position to start from, reports that the watch is ready, and prints the current state if needed.
  ///
  /// - Returns: The position; nil if the state was not printed in full, so that the position must not be saved.
  private mutating func start(_ store: UserStore, after reset: StoreError.Code?) async throws -> Cursor? {
    if reset == nil, let cursor = try await savedPosition(store) {
      try await resume(store, after: cursor)
      return cursor
    }
    guard let cursor = try printCurrentState(store, after: reset) else { return nil }
    try await save(cursor, in: store, isReset: reset != nil)
    return cursor
  }

  private mutating func printCurrentState(_ store: UserStore, after reset: StoreError.Code?) throws -> Cursor? {
    let showsState = reset != nil || !watch.skipsInitial
    let (users, note, cursor) = try store.read { transaction in
      try chooseUser(&transaction, mustExist: reset == nil)
      let cursor = try transaction.cursor
      let state = showsState ? try currentState(&transaction, at: cursor) : ([], nil)
      return (state.0, state.1, cursor)
    }
    reportReady(at: cursor, of: store)
    if let reset { printer.printReset(because: reset.rawValue) }
    if showsState { print(users, at: cursor) }
    if let note { watch.common.note(note) }
    return printer.hasGivenUp ? nil : cursor
  }

  /// The saved position; nil if there is none and the watch starts from the current state.
  private mutating func savedPosition(_ store: UserStore) async throws -> Cursor? {
    switch beginning {
    case .currentState: return nil
    case .after(let cursor): return cursor
    case .file(let file): return try file.read()
    case .consumer(let name):
      // A new name is claimed only after the current state is printed: if the watch is killed before, the next one prints it
      // again.
      guard try await store.read({ try $0.consumers() }).contains(where: { $0.isNamed(name) }) else { return nil }
      consumer = try await store.consumer(name)
      return try await consumer?.cursor()
    }
  }

  /// Saves the first position, the end of the current state.
  private mutating func save(_ cursor: Cursor, in store: UserStore, isReset: Bool) async throws {
    position = cursor
    switch beginning {
    case .currentState, .after: break
    case .file(let file): try file.write(cursor)
    case .consumer(let name):
      // Even if the watch has just been canceled: the state is printed, and the message at the end names the consumer.
      let consumer = try await store.consumer(name, from: .after(cursor))
      if isReset { try await consumer.reset(to: cursor) }
      self.consumer = consumer
    }
  }

  private mutating func resume(_ store: UserStore, after cursor: Cursor) async throws {
    try chooseUser(in: store)
    // Before reporting readiness, throws if the log does not continue from the cursor.
    try await store.verify(cursor)
    position = cursor
    reportReady(at: cursor, of: store)
  }

  private mutating func chooseUser(in store: UserStore) throws {
    try store.read { transaction in try chooseUser(&transaction, mustExist: false) }
  }

  /// Finds the requested user; unless it must exist, an id may be that of a removed user, whom the log may still contain.
  private mutating func chooseUser(_ transaction: inout ReadTransaction, mustExist: Bool) throws {
    if printer.filter.user != nil { return }
    if !mustExist, let id = watch.user?.id {
      printer.filter.user = id
    } else {
      printer.filter.user = try watch.user?.resolve(in: &transaction).id
    }
  }

  private func currentState(
    _ transaction: inout ReadTransaction, at cursor: Cursor
  ) throws -> (users: [User], note: String?) {
    // The users are copied: a slow reader of the output must not keep the transaction open.
    if let id = printer.filter.user { return (try transaction.user(id).map { [$0] } ?? [], nil) }
    if watch.initialState == .all { return (try transaction.users(), nil) }
    let size = LiveTerminal.shared.size
    var screenful = ScreenfulOfState(rows: size.rows)
    let now = WallClock.milliseconds
    try transaction.iterateUsers { user in
      let entries = Entry.state(of: user, at: now)
      if printer.shows(entries, to: standIns) {
        screenful.add(
          user, taking: printer.rows(of: entries, at: cursor, to: standIns, columns: size.columns))
      }
      return Signals.shared.status == nil
    }
    // After a signal, the other users were not counted.
    return (screenful.users, Signals.shared.status == nil ? screenful.note : nil)
  }

  private mutating func print(_ users: [User], at cursor: Cursor) {
    let now = WallClock.milliseconds
    for user in users { printer.add(Entry.state(of: user, at: now), at: cursor, to: standIns) }
    printer.endState(at: cursor)
  }

  private mutating func reportReady(at cursor: Cursor, of store: UserStore) {
    if isReady { return }
    isReady = true
    watch.common.noteMissingFileEvents(of: store)
    let what = printer.filter.user.map { "user \($0)" } ?? "all users"
    watch.common.note("watching \(what) after revision \(cursor.revision) (Ctrl-C to stop)")
  }

  // MARK: Following

  private mutating func follow<Feed: AsyncSequence>(_ feed: Feed) async throws where Feed.Element == ChangeSet {
    for try await set in feed {
      guard try printer.print(set, to: standIns) else { return }
      try await advance(past: set)
      if printer.isDone { return }
    }
  }

  private mutating func advance(past set: ChangeSet) async throws {
    position = set.cursor
    if case .file(let file) = beginning { try file.write(set.cursor) }
    do { try await consumer?.acknowledge(set) } catch {
      // A long write by another program or a restarted server must not end the watch: a later set or the end saves the position.
      if error.code != .busy, error.code != .connectionLost { throw error }
    }
  }

  private mutating func finish() {
    printer.end()
    guard Signals.shared.status != nil, let position else { return }
    watch.common.note(
      Signals.shared.lineEnd + "stopped at revision \(position.revision); continue with \(resumption(after: position))")
  }

  private func resumption(after position: Cursor) -> String {
    switch beginning {
    case .consumer(let name): "--consumer \(name.shown.shellWord())"
    case .file(let file): "--cursor-file \(file.name.shown.shellWord())"
    case .currentState, .after: "--after \(position)"
    }
  }
}
