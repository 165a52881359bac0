// Modelled in Model/Pump.pml; change both.

/// Turns, and how they end.
extension Writer {
  enum TurnEnd {
    /// Somebody else goes on in the transaction; whoever has a part in it waits there for its end.
    case handedOn(WritePlace?)
    /// The transaction was ended, for all who took part: a ticket of the hub's queue, or why nothing was kept.
    case ended(Result<Int?, StoreError>, members: [WriteLine.Waiter])
    /// Nothing was left to end: there is no transaction any more.
    case nothing
  }

  /// Waits for the turn.
  ///
  /// - Returns: the transaction to go on in; nil to begin one.
  /// - Throws: `StoreError.closed`, and `.busy` when who had the turn waited in vain for another process.
  func takeTurn(joins: Bool) throws(StoreError) -> WriteGroup? {
    var place: WritePlace?
    while true {
      let waiter = place.map { WriteLine.Waiter.thread($0, joins: joins) }
      switch line.withLock({ $0.enter(waiter) }) {
      case .turn: return nil
      case .closed: throw StoreError(.closed, "the store is closed")
      case .wait: break
      }
      guard let place else {
        place = WritePlace()
        continue
      }
      switch place.wait() {
      case .turn(let group): return group
      case .over(let error): throw error ?? StoreError(.closed, "the store is closed")
      }
    }
  }

  /// Gives the turn to somebody, as the line has decided.
  ///
  /// - Returns: false when it is a task's and the store's thread runs no more; the task has its error then.
  func give(_ group: WriteGroup?, to waiter: WriteLine.Waiter) -> Bool {
    switch waiter {
    case .thread(let place, _):
      place.tell(.turn(group))
      return true
    case .task(let task):
      var error = StoreError(.closed, "the store is closed")
      do { if try worker.run({ self.serve(task, in: group) }) { return true } } catch let cause {
        error = StoreError(.unexpected, "\(cause)", cause: cause)
      }
      _ = line.withLock { $0.workerReturned() }
      task.finish(error)
      return false
    }
  }

  /// Wakes the thread whose turn comes after the one that is just taken, while that one works.
  func rouseNext(after group: WriteGroup?, isWorker: Bool = false) {
    line.withLock { $0.upcoming(after: group?.size ?? 0, isWorker: isWorker) }?.rouse()
  }

  /// Lets the next one begin a transaction.
  func passTurn() {
    while let next = line.withLock({ $0.pass() }), !give(nil, to: next) {}
  }

  /// A writer has done its part: whoever waits goes on in its transaction; otherwise it ends it.
  ///
  /// - Parameters:
  ///   - group: The transaction, if there still is one.
  ///   - cascade: What it belongs to, when a listener writes.
  ///   - joins: Whether others may go on in it.
  ///   - hasPart: Whether the writer, a thread, waits for the end.
  /// - Returns: what `settle` is to do when the thread is out of the transaction.
  func endTurn(_ group: WriteGroup?, _ cascade: Cascade?, joins: Bool, hasPart: Bool) -> TurnEnd {
    guard let group else {
      passTurn()
      return .nothing
    }
    while joins, let next = line.withLock({ $0.next(after: group.size) }) {
      var group = group
      let place = hasPart ? WritePlace() : nil
      if let place { group.members.append(.thread(place, joins: true)) }
      if give(group, to: next) { return .handedOn(place) }
    }
    defer { passTurn() }
    do throws(StoreError) {
      return .ended(.success(try end(group, cascade)), members: group.members)
    } catch {
      let isShared = group.members.count + (hasPart ? 1 : 0) > 1
      return .ended(.failure(isShared ? Self.takenAlong(by: error) : error), members: group.members)
    }
  }

  /// After the turn: waits until the transaction is over and delivered, or delivers it and tells those who wait for that.
  ///
  /// - Returns: why nothing of it was kept.
  func settle(_ end: TurnEnd) -> StoreError? {
    switch end {
    case .handedOn(let place?):
      guard case .over(let error) = place.wait() else { preconditionFailure("a writer gets a turn that it had") }
      return error
    case .handedOn(nil), .nothing:
      // It may have seen that the log begins anew, and have put off what others wrote.
      hub.deliver(through: nil)
      return nil
    case .ended(.success(let ticket), let members):
      hub.deliver(through: ticket)
      for member in members { member.end(nil) }
      keepHouse()
      return nil
    case .ended(.failure(let error), let members):
      hub.deliver(through: nil)
      for member in members { member.end(error) }
      return error
    }
  }

  static func takenAlong(by error: any Error) -> StoreError {
    // Then it is not so that nothing was changed.
    if let error = error as? StoreError, error.code == .commitUnknown || error.code == .moved { return error }
    return StoreError(
      .rolledBackWithGroup, "SQLite ended the transaction that this write shared with others: \(error)", cause: error)
  }
}
