import UserStore

/// A write, and what the listeners in this process hear of it.
struct Telling {
  let common: CommonOptions
  let standIns: [StandIn]
  let isDryRun: Bool

  /// Thrown inside the write to undo it.
  private struct DryRun: Error {
    let changes: [Change]
  }

  /// Writes with the listeners bound, then prints each call.
  ///
  /// - Parameters:
  ///   - user: Whose record.
  ///   - body: Changes it.
  /// - Throws: `Failure`, what writing can throw, and what `body` throws.
  func run(_ user: UserReference, _ body: (inout WriteTransaction, User) throws -> Void) throws {
    try run(origin: "usertool", choose: { try user.resolve(in: &$0) }, topic: \.id) { transaction, user in
      try body(&transaction, user)
    }
  }

  /// The same for a write that is not about one user: the listeners hear of all.
  ///
  /// - Parameters:
  ///   - origin: What the write calls itself.
  ///   - body: Changes records.
  /// - Throws: `Failure`, what writing can throw, and what `body` throws.
  func run(origin: String, _ body: (inout WriteTransaction) throws -> Void) throws {
    try run(origin: origin, choose: { _ in }, topic: { _ in nil }) { transaction, _ in try body(&transaction) }
  }

  private func run<Chosen>(
    origin: String, choose: (inout WriteTransaction) throws -> Chosen, topic: (Chosen) -> User.ID?,
    _ body: (inout WriteTransaction, Chosen) throws -> Void
  ) throws {
    try common.withStore(.readWrite) { store in
      let heard = Heard()
      var start: Cursor?
      do {
        try store.write(origin: origin) { transaction in
          let chosen = try choose(&transaction)
          start = try transaction.cursor
          heard.bind(standIns, to: store.listeners, for: topic(chosen))
          try body(&transaction, chosen)
          if isDryRun { throw DryRun(changes: try transaction.changes) }
        }
      } catch let dryRun as DryRun {
        return print(dryRun.changes)
      }
      try print(heard.calls, after: start)
    }
  }

  private func print(_ changes: [Change]) {
    var printer = makePrinter(standIns: nil)
    if !common.quiet { printer.print(changes.map { Entry($0) }, at: nil, to: nil) }
    printer.end()
    common.note(changes.isEmpty ? "unchanged" : "dry run: nothing was changed")
  }

  /// What others wrote just before comes as sets of its own, and is not ours to tell.
  private func print(_ calls: [Heard.Call], after start: Cursor?) throws {
    let own = calls.filter { call in start.map { call.set.revision > $0.revision } ?? true }
    guard let whole = own.first(where: { $0.standIn == nil })?.set else { return common.note("unchanged") }
    if common.quiet { return }
    var printer = makePrinter(standIns: standIns)
    let listeners = own.compactMap(\.standIn)
    _ = try printer.print(whole, to: listeners + [.nobody(besides: listeners)])
    printer.end()
  }

  private func makePrinter(standIns: [StandIn]?) -> StreamPrinter {
    StreamPrinter(common.streamFormat, to: Output(), common.style, filter: Filter(), standIns: standIns)
  }
}

/// What listeners were called with, in the order of the calls.
private final class Heard: Sendable {
  struct Call {
    /// nil for the one that hears whole sets, to tell what happened.
    let standIn: StandIn?
    let set: ChangeSet
  }

  private let state = Lock((calls: [Call](), token: SubscriptionToken?.none))

  var calls: [Call] { state.withLock { $0.calls } }

  func bind(_ standIns: [StandIn], to listeners: Listeners, for user: User.ID?) {
    for standIn in standIns {
      listeners.bind(standIn.name, to: standIn.topic(of: user)) { set in self.append(Call(standIn: standIn, set: set)) }
    }
    let topic = user.map { Topic.user($0) } ?? .everything
    let token = listeners.bind(to: topic) { set in self.append(Call(standIn: nil, set: set)) }
    state.withLock { $0.token = token }
  }

  private func append(_ call: Call) {
    state.withLock { $0.calls.append(call) }
  }
}
