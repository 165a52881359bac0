/// A chain without its handles: its members in order, and the hub of its rounds.
///
///     member ── reported, read ──▶ hub's queue ──▶ round ─┬─ prepared for all members, then written: here
///                                                         └▶ custom blocks: listeners of the hub
///
/// The hub orders the rounds, holds the custom blocks by their keys, and defers the round that a block causes until after the
/// present one. Members are not listeners of the hub: a round is prepared for all of them before one is changed.
@MainActor final class ChainCore {
  /// The first one that sends is the head.
  private(set) var members: [any ChainMember] = []
  /// Its values are of the type `ChainRound`.
  let hub = SignalHub(onError: ListenerErrors.print)
  /// The chain that this one has joined.
  private(set) var successor: ChainCore?
  private var registration: SubscriptionToken?

  init() {
    registration = SubscriptionToken(register(nil, keepsValue: true) { [weak self] round in self?.run(round) })
  }

  var current: ChainCore { successor?.current ?? self }

  // MARK: Members

  /// Adds a member, and all members of the chain that already contains it.
  func add(_ new: any ChainMember, _ initial: BindingChain.Initial) throws {
    removeDead()
    let head = members.first { $0.sends }
    guard let old = ChainDirectory.member(new.key) else {
      try new.join(self)
      members.append(new)
      ChainDirectory.insert(new)
      new.connect()
      return synchronize([new], head, new, initial)
    }
    try old.merge(with: new)
    guard let other = old.core, other !== self else { return synchronize([old], head, old, initial) }
    // Earlier changes in the other chain are propagated there first, and are not lost.
    other.update()
    let joining = other.members
    merge(other).synchronize(joining, head, old, initial)
  }

  private func synchronize(
    _ new: [any ChainMember], _ head: (any ChainMember)?, _ tail: any ChainMember, _ initial: BindingChain.Initial
  ) {
    switch initial {
    case .none: return
    case .tail:
      guard tail.sends else { return }
      tail.discardRecorded()
      enqueue(tail, .propagate(isReported: true))
    case .head:
      guard let head, new.contains(where: { $0 !== head }) else { return }
      // The head's own change comes first: it is for all members.
      enqueue(head, .propagate())
      enqueue(head, .initialize(new.filter { $0 !== head }))
    }
  }

  func remove(where condition: (any ChainMember) -> Bool) {
    let leaving = members.filter(condition)
    if leaving.isEmpty { return }
    members.removeAll(where: condition)
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

  func removeDead() { remove { !$0.isAlive } }

  /// Joins two chains, with the members of this one first, and returns the joined chain.
  private func merge(_ other: ChainCore) -> ChainCore {
    // A chain that is inside of a round is kept, so that its blocks receive the rest of the round.
    let (kept, ended) = DeliveryThread.current.isInside(other.hub) ? (other, self) : (self, other)
    let all = members + other.members
    for member in ended.members { member.core = kept }
    ended.members = []
    kept.members = all
    // If both have a block with the same key, the other chain's is kept.
    ended.hub.moveNamedListeners(to: kept.hub, replacing: ended === other)
    ended.successor = kept
    return kept
  }

  // MARK: Rounds

  func update() {
    for member in members where member.sends { enqueue(member, .propagate()) }
  }

  /// Queues a task, which runs now, or after the present round, call or transaction.
  func enqueue(_ member: any ChainMember, _ task: ChainRound.Task, cause: RoundCause? = .current) {
    hub.deliver(through: hub.append(.success(ChainRound(member, task, cause)), in: cause?.cascade))
  }

  /// Registers a listener of the rounds: a custom block, or without a key this chain itself, which is called before them.
  @discardableResult
  func register(
    _ key: String?, keepsValue: Bool = false, _ action: @escaping @MainActor (ChainRound) -> Void
  ) -> ListenerRemoval {
    let call = SignalRound.Action { signal in
      MainActor.assumeIsolated {
        if case .success(let round as ChainRound) = signal.content { action(round) }
      }
    }
    return hub.register(key, to: .all, on: .inline, owner: nil, keepsValue: keepsValue, call)
  }

  private func run(_ round: ChainRound) {
    removeDead()
    // The member may have left, or its chain may have joined another one, since the round was queued.
    guard let core = round.member.core else { return }
    guard core === self else { return core.enqueue(round.member, round.task, cause: round.cause) }
    do {
      switch round.task {
      case .propagate(let isReported, let isInOrder): try propagate(round, isReported: isReported, isInOrder: isInOrder)
      case .initialize(let new): try initialize(new, round.member)
      }
    } catch {
      error.report()
      if case .left = error.reason { remove { $0 === error.member } }
    }
  }

  private func propagate(_ round: ChainRound, isReported: Bool, isInOrder: Bool) throws(ChainFailure) {
    let source = round.member
    // Read first, also if the member does not send: reading shows whether an attribute's user was removed.
    guard try source.hasChanged(isReported: isReported), source.sends else { return }
    if !isInOrder, source.hasUnseenEdit, enqueueUnseenEdits(before: round) { return }
    if let cause = round.cause,
      let names = cause.cascade.admit(by: cause.name ?? source.name, limit: SignalHub.roundLimit)
    {
      source.recordCurrent()
      throw ChainFailure(member: source, reason: .failed(TooManyRounds(listeners: names)))
    }
    do {
      guard let value = try source.outgoingValue() else { return }
      let writes = try prepare(value, for: members.filter { $0.receives && $0 !== source })
      source.recordCurrent()
      for write in writes { write.perform() }
      round.value = value
    } catch {
      source.restorePrevious()
      throw error
    }
  }

  /// Queues a round for each edit that was not noticed yet, then the present round again; returns false without such edits.
  private func enqueueUnseenEdits(before round: ChainRound) -> Bool {
    let edited = members.filter { $0 !== round.member && $0.receives && $0.hasUnseenEdit }
    if edited.isEmpty { return false }
    for member in edited + [round.member] {
      enqueue(member, .propagate(isReported: true, isInOrder: true), cause: round.cause)
    }
    return true
  }

  private func initialize(_ new: [any ChainMember], _ head: any ChainMember) throws(ChainFailure) {
    _ = try head.hasChanged(isReported: false)
    guard let value = try head.outgoingValue() else { return }
    let writes = try prepare(value, for: new.filter { $0.core === self && $0.receives })
    for write in writes { write.perform() }
  }

  /// Prepares all writes, and commits those in stores, because a store may refuse too.
  ///
  /// Stores share no transaction: if one store refuses, what another one has committed before is not reverted. That would be
  /// another write, which a crash can prevent, so it could not be promised.
  private func prepare(_ value: Any, for targets: [any ChainMember]) throws(ChainFailure) -> [ChainWrite] {
    var writes: [ChainWrite] = []
    for target in targets {
      if let write = try target.prepare(value) { writes.append(write) }
    }
    var rest = writes.filter { $0.change != nil }
    while let store = rest.first?.change?.store {
      let own = rest.filter { $0.change?.store === store }
      rest.removeAll { $0.change?.store === store }
      do { try store.commit(own.compactMap { $0.change?.content }, origin: own[0].member.context.name) } catch {
        throw ChainFailure(member: own[error.index].member, reason: .failed(error.cause), value: own[error.index].value)
      }
    }
    return writes
  }
}

/// A round of a chain: a task for one member.
///
/// It does not contain the value: that is read when the task runs, so that no member is left with a stale value.
@MainActor final class ChainRound {
  enum Task {
    /// Propagates the member's value if it has changed. If its source reported a change, a value that cannot be compared counts
    /// as changed. If the round is in order, the edits before it were queued already.
    case propagate(isReported: Bool = false, isInOrder: Bool = false)
    /// Writes the member's value to new members. It is not a change of the chain.
    case initialize([any ChainMember])
  }

  let member: any ChainMember
  let task: Task
  let cause: RoundCause?
  /// The value for custom blocks; nil if no member was changed.
  var value: Any?

  init(_ member: any ChainMember, _ task: Task, _ cause: RoundCause?) {
    self.member = member
    self.task = task
    self.cause = cause
  }
}

/// The members of all chains of the process, so that two chains with the same member become one.
///
/// It keeps a chain without a handle alive as long as a member that sends lives. The release of an object is not reported: a
/// chain that lost its last member that sends is removed when one of its handles is released, when anything happens in it, and
/// when the number of all members has doubled.
@MainActor enum ChainDirectory {
  private static var members: [MemberKey: any ChainMember] = [:]
  private static var sweepThreshold = 64

  static func member(_ key: MemberKey) -> (any ChainMember)? {
    guard let member = members[key] else { return nil }
    if member.isAlive { return member }
    // The key is of a released object that had the same address.
    member.core?.removeDead()
    return nil
  }

  static func insert(_ member: any ChainMember) {
    members[member.key] = member
    if members.count < sweepThreshold { return }
    for core in members.values.compactMap(\.core) { core.removeDead() }
    sweepThreshold = max(64, 2 * members.count)
  }

  static func remove(_ member: any ChainMember) {
    if members[member.key] === member { members[member.key] = nil }
  }
}
