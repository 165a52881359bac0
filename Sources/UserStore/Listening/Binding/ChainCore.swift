/// The chain behind its handles: its members in order, and the hub of its rounds.
///
///     member ── reported, read ──▶ hub's queue ──▶ round ─┬─ prepared for all members, then written: here
///                                                         └▶ custom blocks: listeners of the hub
///
/// The hub gives the order of rounds and the names of custom blocks, and defers the round that a block causes until after the
/// present one. Members are not listeners of it: a round is prepared for all of them before one is changed.
@MainActor final class ChainCore {
  /// The same number as for listeners of a store.
  static let roundLimit = 1_000

  /// The first one that sends is the head.
  private(set) var members: [any ChainMember] = []
  let hub = ListenerHub<ChainRound>(onError: ListenerErrors.print)
  /// The chain that this one has joined.
  private(set) var successor: ChainCore?
  private var worker: SubscriptionToken?
  private var position: Int128 = 0

  init() {
    let run = ChainRound.Action { [weak self] round in MainActor.assumeIsolated { self?.run(round) } }
    worker = SubscriptionToken(hub.register(nil, to: .all, on: .inline, owner: nil, keepsValue: true, run))
  }

  /// This chain, or the one that it has joined.
  var current: ChainCore { successor?.current ?? self }

  // MARK: Members

  /// Adds a member, and with it the chain that it belongs to.
  func add(_ new: any ChainMember, _ initial: BindingChain.Initial) throws {
    removeDead()
    let head = members.first { $0.sends }
    guard let old = ChainDirectory.member(new.key) else {
      try new.join(self)
      members.append(new)
      ChainDirectory.insert(new)
      new.connect()
      synchronize([new], head, new, initial)
      return
    }
    old.merge(with: new)
    guard let joining = old.core, joining !== self else {
      synchronize([old], head, old, initial)
      return
    }
    // Changes that happened in that chain before belong to it, and are not lost.
    joining.update()
    let joined = joining.members
    let whole = merge(joining)
    whole.synchronize(joined, head, old, initial)
  }

  private func synchronize(
    _ new: [any ChainMember], _ head: (any ChainMember)?, _ tail: any ChainMember, _ initial: BindingChain.Initial
  ) {
    switch initial {
    case .none: return
    case .tail:
      guard tail.sends else { return }
      tail.discardRecorded()
      enqueue(tail, .propagateReported)
    case .head:
      guard let head, new.contains(where: { $0 !== head }) else { return }
      // The head's own change comes first: it is for all members.
      enqueue(head, .propagate)
      enqueue(head, .initialize(new.filter { $0 !== head }))
    }
  }

  /// Removes members.
  func remove(where isMeant: (any ChainMember) -> Bool) {
    let leaving = members.filter(isMeant)
    if leaving.isEmpty { return }
    members.removeAll(where: isMeant)
    for member in leaving {
      ChainDirectory.remove(member)
      member.leave()
    }
    // The chain ends with its last member that sends.
    if leaving.contains(where: \.sends), !members.contains(where: \.sends) {
      remove { _ in true }
      for key in hub.names { hub.remove(key, from: .all) }
    }
  }

  /// Removes the members whose object was released.
  func removeDead() {
    remove { !$0.isAlive }
  }

  // MARK: Merging

  /// Makes one chain of two, with the members of this one first.
  ///
  /// A chain that is inside of a round stays, so that its blocks receive the rest of the round.
  private func merge(_ other: ChainCore) -> ChainCore {
    let stays = other.isRunning ? other : self
    let goes = stays === self ? other : self
    let all = members + other.members
    for member in goes.members { member.core = stays }
    goes.members = []
    stays.members = all
    // If both have a block with the same key, the block of the chain that joins stays.
    goes.hub.moveNamedListeners(to: stays.hub, replacing: goes === other)
    goes.successor = stays
    return stays
  }

  private var isRunning: Bool { DeliveryThread.current.isInside(hub) }

  // MARK: Rounds

  /// Reads every member that sends.
  func update() {
    for member in members where member.sends { enqueue(member, .propagate) }
  }

  /// Queues a task; it runs now, or after the present round, call or transaction.
  func enqueue(_ member: any ChainMember, _ task: ChainRound.Task, cause: RoundCause? = .current) {
    position += 1
    let round = ChainRound(position: position, member: member, task: task, cause: cause)
    hub.deliver(through: hub.append(round, cascade: cause?.cascade))
  }

  private func run(_ round: ChainRound) {
    removeDead()
    // The member may have left, or its chain may have joined another one, since the round was queued.
    guard let core = round.member.core else { return }
    guard core === self else { return core.enqueue(round.member, round.task, cause: round.cause) }
    do {
      switch round.task {
      case .initialize(let new): try initialize(new, round.member)
      case .propagate: try propagate(round, isReported: false, isInOrder: false)
      case .propagateReported: try propagate(round, isReported: true, isInOrder: false)
      case .propagateInOrder: try propagate(round, isReported: true, isInOrder: true)
      }
    } catch {
      handle(error)
    }
  }

  private func propagate(_ round: ChainRound, isReported: Bool, isInOrder: Bool) throws(ChainFailure) {
    let source = round.member
    // Read first, also if the member does not send: reading shows whether an attribute's user was removed.
    guard try source.hasChanged(isReported: isReported), source.sends else { return }
    if !isInOrder, source.isEdited, enqueueUnseenEdits(before: round) { return }
    if let cause = round.cause, let names = cause.cascade.admit(by: cause.name ?? source.name, limit: Self.roundLimit) {
      source.recordCurrent()
      throw ChainFailure(member: source, reason: .tooManyRounds(names))
    }
    do {
      guard let value = try source.outgoingValue() else { return }
      let writes = try prepare(value, by: members.filter { $0.receives && $0 !== source })
      source.recordCurrent()
      for write in writes { write.perform() }
      round.value = value
    } catch {
      source.restorePrevious()
      throw error
    }
  }

  /// Queues a round for each member with a change that was not noticed yet, because it was made before, then the present round.
  private func enqueueUnseenEdits(before round: ChainRound) -> Bool {
    let edited = members.filter { $0 !== round.member && $0.receives && $0.isEdited }
    if edited.isEmpty { return false }
    for member in edited + [round.member] { enqueue(member, .propagateInOrder, cause: round.cause) }
    return true
  }

  private func initialize(_ new: [any ChainMember], _ head: any ChainMember) throws(ChainFailure) {
    _ = try head.hasChanged(isReported: false)
    guard let value = try head.outgoingValue() else { return }
    let writes = try prepare(value, by: new.filter { $0.core === self && $0.receives })
    for write in writes { write.perform() }
  }

  /// Prepares all members, and writes the entries of ledgers, because they may refuse too.
  private func prepare(_ value: Any, by targets: [any ChainMember]) throws(ChainFailure) -> [ChainWrite] {
    var writes: [ChainWrite] = []
    for target in targets {
      if let write = try target.prepare(value) { writes.append(write) }
    }
    try commit(writes)
    return writes
  }

  /// Writes the entries of each ledger together.
  ///
  /// Ledgers share no transaction: the entries of a ledger that is written before another one refuses stay written. To take
  /// them back would be one more write, and a crash can come between the two: that would be no promise.
  private func commit(_ writes: [ChainWrite]) throws(ChainFailure) {
    var rest = writes.filter { $0.entry != nil }
    while let ledger = rest.first?.entry?.ledger {
      let own = rest.filter { $0.entry?.ledger === ledger }
      rest.removeAll { $0.entry?.ledger === ledger }
      do { try ledger.commit(own.compactMap { $0.entry?.change }, origin: own[0].member.context.name) } catch {
        throw ChainFailure(member: own[error.index].member, reason: .failed(error.cause), value: own[error.index].value)
      }
    }
  }

  private func handle(_ failure: ChainFailure) {
    failure.report()
    if case .left = failure.reason { remove { $0 === failure.member } }
  }
}
