import UserStore

/// Follows the log and prints it, until it has printed enough or is cancelled.
///
/// It pulls from the log: a slow reader of its output delays no writer, and nothing is kept in memory for it.
struct Follower {
  /// What was asked for.
  struct Order: Sendable {
    let common: CommonOptions
    let user: UserReference?
    let after: Cursor?
    let cursorFile: CursorFile?
    let count: Int?
    let filter: Filter
    /// nil for changes by themselves.
    let standIns: [StandIn]?
    let showsInitial: Bool
    let resyncs: Bool
  }

  private let order: Order
  private var printer: StreamPrinter
  /// The end of the last set whose lines were all written; nil before the first.
  private var position: Cursor?
  private var isReady = false

  init(_ order: Order) {
    self.order = order
    printer = StreamPrinter(
      order.common.streamFormat, to: Output(), order.common.style, filter: order.filter, standIns: order.standIns,
      remaining: order.count)
  }

  mutating func run() async throws {
    var store = try order.common.open(.readOnly, isWatching: true)
    defer { store.close() }
    var reset: StoreError.Code?
    while true {
      do {
        let start = try begin(store, after: reset)
        try await follow(store, after: start)
        return finish()
      } catch let error as StoreError where [.compacted, .diverged, .replaced].contains(error.code) {
        if !order.resyncs { throw error }
        reset = error.code
        if error.code == .replaced {
          store.close()
          store = try await reopened()
        }
      }
    }
  }

  // MARK: Beginning

  /// Finds where to begin, says that it is ready, and prints the state that the changes go on from.
  private mutating func begin(_ store: UserStore, after reset: StoreError.Code?) throws -> Cursor {
    if reset == nil, let cursor = try order.after ?? order.cursorFile?.read() {
      try resume(store, after: cursor)
      return cursor
    }
    let (users, cursor) = try store.read { transaction in
      try chooseUser(&transaction, mustExist: reset == nil)
      return (try presentState(&transaction, after: reset), try transaction.cursor)
    }
    sayReady(at: cursor)
    if let reset { printer.printReset(because: reset.rawValue) }
    if reset != nil || order.showsInitial { print(users, at: cursor) }
    try advance(to: cursor)
    return cursor
  }

  private mutating func resume(_ store: UserStore, after cursor: Cursor) throws {
    try store.read { transaction in try chooseUser(&transaction, mustExist: false) }
    // A cursor that the log does not go on from is noticed here, before it says that it is ready.
    _ = try store.pastChanges(after: cursor)
    position = cursor
    sayReady(at: cursor)
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
      printer.print(entries, at: cursor, to: order.standIns)
    }
    printer.flush()
  }

  private mutating func sayReady(at cursor: Cursor) {
    if isReady { return }
    isReady = true
    let what = printer.filter.user.map { "user \($0)" } ?? "all users"
    order.common.note("watching \(what) after revision \(cursor.revision) (Ctrl-C ends it)")
  }

  // MARK: Following

  /// - Returns: when it has printed enough, or was cancelled.
  private mutating func follow(_ store: UserStore, after start: Cursor) async throws {
    for try await set in store.changes(after: start) {
      guard try printer.print(set, to: order.standIns) else { return }
      try advance(to: set.cursor)
      if printer.isDone { return }
    }
  }

  private mutating func advance(to cursor: Cursor) throws {
    position = cursor
    try order.cursorFile?.write(cursor)
  }

  /// Another file took the place of the old one, or will: a restored backup may not be complete yet.
  private func reopened() async throws -> UserStore {
    var attempts = 40
    while true {
      do { return try order.common.open(.readOnly, isWatching: true) } catch {
        attempts -= 1
        guard attempts > 0, [.noInput, .badData].contains(error.status) else { throw error }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  private mutating func finish() {
    printer.end()
    guard let status = Signals.shared.status, let position else { return }
    // After the ^C that a terminal shows.
    let line = status == .interrupted && System.isTerminal(2) ? "\n" : ""
    order.common.note(line + "stopped at revision \(position.revision); go on with --after \(position)")
  }
}
