import UserStore
import UserStoreText

/// A write whose listeners, in this process, have their calls printed.
struct ReportedWrite {
  let common: CommonOptions
  let standIns: [StandIn]
  let isDryRun: Bool

  /// Changes one user in one write, and prints the calls of the listeners bound to it.
  func run(_ user: UserReference, _ body: (inout WriteTransaction, User) throws -> Void) throws {
    try run(origin: "usertool", choose: { try user.resolve(in: &$0) }, topic: \.id) { transaction, user in
      try body(&transaction, user)
    }
  }

  /// Does the same for a write that may change any user, with the listeners bound to all users.
  func run(origin: String, _ body: (inout WriteTransaction) throws -> Void) throws {
    try run(origin: origin, choose: { _ in }, topic: { _ in nil }) { transaction, _ in try body(&transaction) }
  }

  private func run<Chosen>(
    origin: String, choose: (inout WriteTransaction) throws -> Chosen, topic: (Chosen) -> User.ID?,
    _ body: (inout WriteTransaction, Chosen) throws -> Void
  ) throws {
    try common.withStore(.readWrite) { store in
      let recorder = CallRecorder()
      var end: Revision?
      let entries = try store.write(origin: origin, isDryRun: isDryRun) { transaction in
        let chosen = try choose(&transaction)
        let start = try transaction.cursor.revision
        recorder.bind(standIns, to: store.listeners, for: topic(chosen))
        try body(&transaction, chosen)
        let revision = try transaction.revision
        if revision > start { end = revision }
        return isDryRun ? try transaction.pendingEntries : []
      }
      if isDryRun { return print(entries) }
      guard let end else { return common.note("unchanged") }
      do { try print(recorder.calls.filter { $0.set.revision == end }) } catch let error as StoreError {
        // Not the status of the error's code, which may say that nothing was changed.
        throw Failure(
          .failure, error.message, hint: "the write was committed, as revision \(end)", tellsOfCommit: true)
      }
    }
  }

  private func print(_ entries: [UserStore.Entry]) {
    var printer = makePrinter(standIns: nil, Output())
    if !common.quiet { printer.print(entries.map { Entry($0) }, at: nil, to: nil) }
    printer.end()
    common.note(entries.isEmpty ? "unchanged" : "dry run: nothing was changed")
  }

  private func print(_ calls: [CallRecorder.Call]) throws {
    guard let whole = calls.first(where: { $0.standIn == nil })?.set else {
      // The server was lost after the COMMIT.
      return common.note(
        Arguments.withDatabase("changed, but what has changed cannot be read now: usertool log prints it").shown)
    }
    if common.quiet { return }
    var printer = makePrinter(standIns: standIns, Output(isAfterChange: true))
    let listeners = calls.compactMap(\.standIn)
    _ = try printer.print(whole, to: listeners + [.remainder(after: listeners)])
    printer.end()
  }

  private func makePrinter(standIns: [StandIn]?, _ output: Output) -> StreamPrinter {
    StreamPrinter(common.streamFormat, to: output, common.style, filter: Filter(), standIns: standIns)
  }
}

private final class CallRecorder: Sendable {
  struct Call {
    /// nil for the additional listener, which receives the whole write.
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
