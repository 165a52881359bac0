import UserStore

/// Follows the log and prints it, until it has printed enough or is cancelled.
///
/// It pulls from the log: a slow reader of its output delays no writer, and nothing is kept in memory for it.
struct Follower {
  /// What was asked for.
  struct Order: Sendable {
    let common: CommonOptions
    let user: UserReference?
    let start: Start
    let count: Int?
    let filter: Filter
    /// nil for changes by themselves.
    let standIns: [StandIn]?
    let showsInitial: Bool
    let resyncs: Bool
  }

  /// Where it begins, and what keeps how far it has come.
  enum Start: Sendable {
    case present
    case after(Cursor)
    case file(CursorFile)
    /// A consumer's name: the position is in the database.
    case consumer(String)
  }

  let order: Order
  private var printer: StreamPrinter
  /// The end of the last set whose lines were all written; nil before the first.
  private var position: Cursor?
  /// Who keeps the position, when that is in the database.
  private var consumer: Consumer?
  private var isReady = false

  init(_ order: Order) {
    self.order = order
    printer = StreamPrinter(
      order.common.streamFormat, to: Output(), order.common.style, filter: order.filter, standIns: order.standIns,
      remaining: order.count)
  }

  /// Whether all lines that were asked for are printed.
  var isDone: Bool { printer.isDone }

  mutating func run() async throws {
    guard var store = try await opened() else { return finish() }
    defer { store.close() }
    var reset: StoreError.Code?
    while true {
      do {
        let start = try await begin(store, after: reset)
        if let consumer { try await follow(consumer) } else { try await follow(store.changes(after: start)) }
        return finish()
      } catch let error as StoreError where [.compacted, .diverged, .replaced, .moved].contains(error.code) {
        if !order.resyncs { throw error }
        // Moved is what a consumer hears of a file that was replaced, when it writes.
        reset = error.code == .moved ? .replaced : error.code
        if reset == .replaced {
          store.close()
          guard let next = try await opened(isReplaced: true) else { return finish() }
          store = next
        }
      }
    }
  }

  // MARK: Beginning

  /// Finds where to begin, says that it is ready, and prints the state that the changes go on from.
  private mutating func begin(_ store: UserStore, after reset: StoreError.Code?) async throws -> Cursor {
    if reset == nil, let cursor = try savedPosition(store) {
      try resume(store, after: cursor)
      return cursor
    }
    let cursor = try showPresent(store, after: reset)
    try await save(cursor, in: store, anew: reset != nil)
    return cursor
  }

  private mutating func showPresent(_ store: UserStore, after reset: StoreError.Code?) throws -> Cursor {
    let (users, cursor) = try store.read { transaction in
      try chooseUser(&transaction, mustExist: reset == nil)
      return (try presentState(&transaction, after: reset), try transaction.cursor)
    }
    sayReady(at: cursor, of: store)
    if let reset { printer.printReset(because: reset.rawValue) }
    if reset != nil || order.showsInitial { print(users, at: cursor) }
    return cursor
  }

  /// - Returns: nil when there is none, and it begins with the present state.
  private mutating func savedPosition(_ store: UserStore) throws -> Cursor? {
    switch order.start {
    case .present: return nil
    case .after(let cursor): return cursor
    case .file(let file): return try file.read()
    case .consumer(let name):
      // A new name is taken when the present state was printed: whoever is killed before that gets it again.
      guard try store.read({ try $0.consumers() }).contains(where: { $0.isNamed(name) }) else { return nil }
      consumer = try store.consumer(name)
      return try consumer?.cursor
    }
  }

  /// The first position, behind the present state.
  private mutating func save(_ cursor: Cursor, in store: UserStore, anew: Bool) async throws {
    position = cursor
    switch order.start {
    case .present, .after: break
    case .file(let file): try file.write(cursor)
    case .consumer(let name):
      let consumer = try store.consumer(name, from: .after(cursor))
      if anew { try await consumer.reset(to: cursor) }
      self.consumer = consumer
    }
  }

  private mutating func resume(_ store: UserStore, after cursor: Cursor) throws {
    try store.read { transaction in try chooseUser(&transaction, mustExist: false) }
    // A cursor that the log does not go on from is noticed here, before it says that it is ready.
    _ = try store.page(after: cursor)
    position = cursor
    sayReady(at: cursor, of: store)
  }

  /// A user who is gone can still be named by id: the past may tell of them.
  private mutating func chooseUser(_ transaction: inout ReadTransaction, mustExist: Bool) throws {
    if printer.filter.user != nil { return }
    if !mustExist, let id = order.user?.id {
      printer.filter.user = id
    } else {
      printer.filter.user = try order.user?.resolve(in: &transaction).id
    }
  }

  private func presentState(_ transaction: inout ReadTransaction, after reset: StoreError.Code?) throws -> [User] {
    guard reset != nil || order.showsInitial else { return [] }
    // Copied, so that a slow reader of the output does not keep the transaction open.
    if let id = printer.filter.user { return try transaction.user(id).map { [$0] } ?? [] }
    return try transaction.users()
  }

  private mutating func print(_ users: [User], at cursor: Cursor) {
    let now = System.now
    for user in users {
      let entries = user.orderedValues.map { Entry(of: user.id, $0.name, $0.value, at: now) }
      printer.add(entries, at: cursor, to: order.standIns)
    }
    printer.endState(at: cursor)
  }

  private mutating func sayReady(at cursor: Cursor, of store: UserStore) {
    if isReady { return }
    isReady = true
    if !store.hasFileEvents {
      order.common.note(
        "no file events to be had (their limit may be reached): looking for changes four times a second")
    }
    let what = printer.filter.user.map { "user \($0)" } ?? "all users"
    order.common.note("watching \(what) after revision \(cursor.revision) (Ctrl-C ends it)")
  }

  // MARK: Following

  /// - Returns: when it has printed enough, or was cancelled.
  private mutating func follow<Feed: AsyncSequence>(_ feed: Feed) async throws where Feed.Element == ChangeSet {
    for try await set in feed {
      guard try printer.print(set, to: order.standIns) else { return }
      try await advance(past: set)
      if printer.isDone { return }
    }
  }

  private mutating func advance(past set: ChangeSet) async throws {
    position = set.cursor
    if case .file(let file) = order.start { try file.write(set.cursor) }
    do { try await consumer?.acknowledge(set) } catch {
      // Somebody who holds the write lock for long ends no watch: it is written with the next one, or at the end.
      if error.code != .busy { throw error }
    }
  }

  private mutating func finish() {
    printer.end()
    guard let status = Signals.shared.status, let position else { return }
    // After the ^C that a terminal shows.
    let line = status == .interrupted && System.isTerminal(2) ? "\n" : ""
    order.common.note(line + "stopped at revision \(position.revision); go on with \(resumption(after: position))")
  }

  private func resumption(after position: Cursor) -> String {
    if case .consumer(let name) = order.start { "--consumer \(name.shown)" } else { "--after \(position)" }
  }
}
