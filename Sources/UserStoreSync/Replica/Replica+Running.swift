import UserStore

extension Replica {
  /// Copies and follows, and sends what the application writes, until the task is canceled or the store is closed, and then returns.
  ///
  /// Failures of the network and of the server are repeated forever, with growing pauses of at most a minute; `state` shows them. The process may be
  /// killed at any moment. Several processes may run replicas of one file.
  ///
  /// - Throws: `Problem` if no later attempt can help; run it again when the cause is gone.
  public func run() async throws { try await run(until: { _ in false }) }

  /// Copies and follows until the replica has everything that the server had when this was called, or later, and the server has
  /// decided what the application had written.
  ///
  /// - Throws: `Problem`, and `CancellationError`.
  public func catchUp() async throws {
    try await run(until: { $0 })
    try Task.checkCancellation()
  }

  private func run(until isDone: (_ isUpToDate: Bool) -> Bool) async throws {
    let taking = Task { await takeWrites() }
    do { try await takeSteps(until: isDone) } catch {
      taking.cancel()
      await taking.value
      throw error
    }
    taking.cancel()
    await taking.value
  }

  /// Takes in what the application writes, as soon as it is written, also while the server cannot be reached.
  private func takeWrites() async {
    for await _ in store.rings().stream {
      // What fails here fails in the next step too, which shows it.
      _ = try? await takeIn()
    }
  }

  /// Takes in what was written; returns whether there is something to send.
  @discardableResult func takeIn() async throws -> Bool {
    let (isNew, hasSets) = try await store.read { users in
      let (tables, end) = (try PartTables(users.session), try users.session.logEnd())
      let file = try ReplicaFile(tables)
      return (file.takesWrites && end.revision > file.taken.revision, try Outbox(tables: tables).hasUnanswered)
    }
    guard isNew else { return hasSets }
    let hasMore = try await store.write { transaction in
      try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in try own.outbox.hasUnanswered }
    }
    try await showProgress()
    return hasMore
  }

  private func takeSteps(until isDone: (_ isUpToDate: Bool) -> Bool) async throws {
    var attempts = Attempts()
    while !Task.isCancelled {
      do {
        if isDone(try await takeStep(&attempts, waits: !isDone(true))) { return }
      } catch let problem as Problem {
        show(.refused(problem))
        throw problem
      } catch is CancellationError {
        return
      } catch {
        // A transport may have an error of its own for a request that was canceled.
        if Task.isCancelled || StoreError.Code.closed ~= error { return }
        if let error = error as? StoreError, error.code == .corrupt {
          let problem = Problem.damaged(error.message)
          show(.refused(problem))
          throw problem
        }
        try await pause(after: error, &attempts)
      }
    }
  }

  /// How often in a row something has failed, and how often a copy began again.
  private struct Attempts {
    var failures = 0
    var copies = 0
    /// How often sending has failed while following has not.
    var pushFailures = 0
    /// When sending is tried again.
    var pushTime = Duration.zero
    var pushSize = ReplicaStep.PushSize.batch
  }

  /// Takes one step; returns whether the replica had reached the end of the server's log, and has nothing to send.
  private func takeStep(_ attempts: inout Attempts, waits: Bool) async throws -> Bool {
    let rings = store.rings()
    try await takeIn()
    // After a copy or a failure, the first answer comes at once, so that the state is right again.
    var wait = waits && isFollowing ? SyncRequest.longestWait : 0
    var push: ReplicaStep.PushSize? = attempts.pushSize
    if attempts.pushFailures > 0 {
      let rest = attempts.pushTime - retries.now()
      if rest > .zero { push = nil }
      wait = waits ? max(1, min(SyncRequest.longestWait, Int(rest / .seconds(1)))) : 0
    }
    guard let step = try await store.read({ [wait, push] in try ReplicaStep.next(in: &$0, wait: wait, push: push) })
    else {
      try await store.write { try ReplicaStep.begin(in: &$0) }
      return false
    }
    guard case .ask(let request) = step.action else {
      try await settle(try await store.write { try step.install(in: &$0) }, &attempts)
      return false
    }
    // While it fails, the reason stays.
    if let progress = step.progress, attempts.failures == 0 { show(.copying(done: progress.done, of: progress.count)) }
    let asked = retries.now()
    guard let answer = try await answer(to: request, of: step, rings, &attempts) else { return false }
    let outcome = try await store.write { try step.apply(answer, in: &$0) }
    try await settle(outcome, &attempts)
    if step.push != nil {
      attempts.pushFailures = 0
      attempts.pushSize = outcome.isTooLarge ? .single : .batch
      return false
    }
    guard case .changes(let page) = answer, step.copy == nil, !outcome.isLate, !outcome.hasBegun else { return false }
    // The reason why nothing can be sent stays, too.
    if attempts.pushFailures == 0 { show(.following(behind: outcome.behind)) }
    if wait > 0, !page.hasMore, !outcome.hasMoved { try await retries.pauseIfSoon(after: asked) }
    return !page.hasMore && !outcome.hasUndecided
  }

  /// Asks the server; nil if something else has to be done first.
  private func answer(
    to request: SyncRequest, of step: ReplicaStep, _ rings: Bell.Rings, _ attempts: inout Attempts
  ) async throws -> ReplicaAnswer? {
    if request.waits, attempts.pushFailures == 0 {
      // The server's answer can take long; what is written here is sent at once.
      return try await withThrowingTaskGroup(of: ReplicaAnswer?.self) { group in
        group.addTask { [self] in try await ReplicaAnswer(transport.send(request), to: request) }
        group.addTask { [self] in
          for await _ in rings.stream where try await takeIn() { return nil }
          // The store was closed. The request ends the group; the time is a limit for a transport that never answers.
          try await Task.sleep(for: .seconds(SyncRequest.longestWait * 4))
          return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
      }
    }
    do { return try await ReplicaAnswer(transport.send(request), to: request) } catch {
      if step.push == nil || error is Problem || Task.isCancelled { throw error }
      // Following goes on meanwhile.
      attempts.pushFailures += 1
      let time = delay(after: error, attempts.pushFailures)
      attempts.pushTime = retries.now() + time
      show(.waiting(reason: "\(error)", retryAt: WallClock.milliseconds + Int64(time / .milliseconds(1))))
      return nil
    }
  }

  private func settle(_ outcome: ReplicaOutcome, _ attempts: inout Attempts) async throws {
    attempts.failures = 0
    if outcome.hasPurged { try await store.eraseOldPages() }
    guard outcome.hasBegun || outcome.hasMoved else { return }
    if try await showProgress() { attempts.copies = 0 }
    if outcome.hasBegun {
      attempts.copies += 1
      // The first at once; one that always begins again must not load the server.
      if attempts.copies > 1 {
        try await pause("the server's log did not go on", for: retries.delay(after: attempts.copies - 1))
      }
    }
  }

  private func pause(after error: any Error, _ attempts: inout Attempts) async throws {
    attempts.failures += 1
    try await pause("\(error)", for: delay(after: error, attempts.failures))
  }

  private func delay(after error: any Error, _ failures: Int) -> Duration {
    let asked = (error as? SyncFailure)?.retryAfter ?? .zero
    return max(retries.delay(after: failures), min(asked, Retries.longestAsked))
  }

  private func pause(_ reason: String, for time: Duration) async throws {
    show(.waiting(reason: reason, retryAt: WallClock.milliseconds + Int64(time / .milliseconds(1))))
    try? await retries.sleep(time)
  }

  private var isFollowing: Bool { if case .following = state.value { true } else { false } }
}
