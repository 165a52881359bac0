import UserStore
import UserStoreSync

extension Attribute where Value == String {
  static var status: Attribute { Attribute("status") }
}

/// What a person sees and does from signing in to signing out.
@MainActor final class Visit {
  private let store: UserStore
  private let replica: Replica
  private let list: Listenable<UserStore.Rows>
  private var tasks: [Task<Void, Never>] = []
  private var people = UserStore.Rows() { didSet { show() } }
  private var connection = "" { didSet { show() } }
  private var pending = 0 { didSet { show() } }

  /// Shows what is in the person's file at once, and follows the server.
  init(_ store: UserStore, _ server: some SyncTransport) async throws {
    let onDuty = UserStore.Query(where: .status == "on duty", sortedBy: [.ascending(.name)], showing: [.name])
    self.store = store
    list = try await store.list(onDuty)
    replica = try Replica(of: store, from: server, writes: .queued)
    list.bindAndFire("people", on: .latestOnMain, owner: self) { visit, rows in visit.people = rows }
    replica.state.bindAndFire("connection", on: .latestOnMain, owner: self) { visit, state in
      visit.connection = Self.text(state)
    }
    replica.pending.bindAndFire("pending", on: .latestOnMain, owner: self) { visit, count in visit.pending = count }
    tasks = [
      following { replica in try await replica.run() },
      following { replica in for try await refusal in replica.refusals { try await Self.show(refusal) } },
    ]
  }

  private func following(_ body: @escaping @Sendable (Replica) async throws -> Void) -> Task<Void, Never> {
    Task { [replica] in
      do { try await body(replica) } catch is CancellationError {} catch { Board.say("error: \(error)") }
    }
  }

  /// Sets the status of a user, here and now.
  func set(_ status: String, of user: UserStore.User.ID) async throws {
    try await store.write { try $0.set(.status, of: user, to: status) }
  }

  func wait() async { for task in tasks { await task.value } }

  /// Stops following, and closes the file: what was not sent stays there, for the same person only.
  ///
  /// - Returns: How many change sets were not sent.
  func end() async throws -> Int {
    for task in tasks { task.cancel() }
    await wait()
    list.unbind("people")
    replica.state.unbind("connection")
    replica.pending.unbind("pending")
    try await replica.signOut(pending: .keep)
    await store.close()
    return replica.pending.value
  }

  // MARK: Showing

  /// Shows a refusal once.
  private static func show(_ refusal: Replica.Refusal) async throws {
    let users = Set(refusal.changes.map(\.user.description)).sorted().joined(separator: ", ")
    Board.say("refused (\(refusal.reason.rawValue)): the change of user \(users)")
    try await refusal.acknowledge()
  }

  private static func text(_ state: Replica.State) -> String {
    switch state {
    case .copying(let done, let count): "copying \(done) of \(count)"
    case .following(0): "up to date"
    case .following(let behind): "\(behind) revisions behind"
    case .waiting(let reason, _): "offline: \(reason)"
    case .refused(let problem): "stopped: \(problem)"
    }
  }

  private func show() {
    let names = people.compactMap { try? $0.name }.joined(separator: ", ")
    Board.say("on duty: \(names) (\(connection)\(pending > 0 ? "; \(pending) to send" : ""))")
  }
}
