import UserStore
import UserStoreSync
import UserStoreText

/// Prints what a replica does: in one line of a terminal with a message for each refusal, or as lines of JSON.
actor StatePrinter {
  private let address: String
  private let isQuiet: Bool
  private let isLive: Bool
  /// Whether the application may write, so that each line of JSON says how much is to be sent.
  private let writes: Bool
  private var state: Replica.State?
  private var pending = 0
  /// The line of the terminal; nil before the first.
  private var line: String?
  private var lastRefusal: Revision?

  private enum Event: Sendable {
    case state(Replica.State)
    case pending(Int)
  }

  init(_ address: String, _ common: CommonOptions, writes: Bool) {
    (self.address, self.writes) = (address, writes)
    isQuiet = common.quiet
    isLive = common.format == nil && System.isTerminal(System.standardOutput)
  }

  /// Prints the states and the refusals of a replica while `body` runs it.
  nonisolated func follow(_ replica: Replica, of store: UserStore, _ body: () async throws -> Void) async throws {
    // A reader that does not read misses states, and the replica does not wait for it.
    let (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1_000))
    replica.pending.bindAndFire("usertool") { continuation.yield(.pending($0)) }
    replica.state.bindAndFire("usertool") { continuation.yield(.state($0)) }
    let showing = Task { for await event in events { await show(event) } }
    let reporting = Task { for try await refusal in replica.refusals { await show(refusal) } }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    continuation.finish()
    await showing.value
    reporting.cancel()
    _ = await reporting.result
    // Those of the last answer; the next run prints what cannot be read now.
    for refusal in (try? await Replica.refusals(of: store)) ?? [] { await show(refusal) }
    await end()
    try result.get()
  }

  /// Leaves the last state on the terminal.
  private func end() {
    if line != nil { Messages.shared.writeLine("") }
  }

  private func show(_ event: Event) {
    let before = (state, writes || isLive ? pending : 0)
    switch event {
    case .state(let state): self.state = state
    case .pending(let count): pending = count
    }
    guard let state, before != (state, writes || isLive ? pending : 0) else { return }
    if !isLive { return Output.print([state.json(pending: writes ? pending : nil).description]) }
    if isQuiet { return }
    let line = state.text(address) + (pending > 0 ? "; \(pending) to send" : "")
    self.line = line
    Messages.shared.showProgress(line)
  }

  private func show(_ refusal: Replica.Refusal) {
    if let lastRefusal, refusal.revision <= lastRefusal { return }
    lastRefusal = refusal.revision
    if !isLive {
      let members: [(name: String, value: JSON)] = [
        ("revision", .integer(refusal.revision.rawValue)), ("reason", .text(refusal.reason.rawValue)),
        ("detail", refusal.detail.map { .text($0) } ?? .null),
      ]
      return Output.print([JSON.object([("refused", .object(members))]).description])
    }
    let detail = refusal.detail.map { ", \($0)" } ?? ""
    let hint = Arguments.withDatabase("usertool sync refusals")
    if line != nil { Messages.shared.showProgress("") }
    Messages.shared.writeLine(
      "refused: \(refusal.reason.rawValue)\(detail.shown) (revision \(refusal.revision); see \(hint.shown))")
    if let line { Messages.shared.showProgress(line) }
  }
}

extension Replica.State {
  func text(_ address: String) -> String {
    switch self {
    case .copying(_, 0): "copying the users of \(address)"
    case .copying(let done, let count): "copying the users of \(address): \(done) of \(count)"
    case .following(0): "following \(address): up to date"
    case .following(let behind): "following \(address): \(behind) revisions behind"
    case .waiting(let reason, let time):
      "waiting: \(reason.shown); next attempt in \(max(0, (time - WallClock.milliseconds + 999) / 1_000)) s"
    case .refused(let problem): "stopped: \("\(problem)".shown)"
    }
  }

  /// A line of JSON, with the number of sets that are to be sent if it is not nil.
  func json(pending: Int?) -> JSON {
    let members: [(name: String, value: JSON)] =
      switch self {
      case .copying(let done, let count):
        [("state", .text("copying")), ("done", .integer(Int64(done))), ("of", .integer(Int64(count)))]
      case .following(let behind): [("state", .text("following")), ("behind", .integer(Int64(behind)))]
      case .waiting(let reason, let time):
        [
          ("state", .text("waiting")), ("reason", .text(reason)),
          ("retry_at", .text(Timestamp(milliseconds: time).utc)),
        ]
      case .refused(let problem): [("state", .text("refused")), ("reason", .text("\(problem)"))]
      }
    return .object(members + (pending.map { [("pending", .integer(Int64($0)))] } ?? []))
  }
}
