extension Writer {
  /// Puts other records and another log into the place of those that there are, in one transaction.
  ///
  /// When it returns, every inline listener of the store was told that the log begins anew, except inside a listener.
  ///
  /// - Parameter body: Does it, on the writer's connection; the log that it leaves has a new epoch.
  /// - Throws: what writing can throw, and what `body` throws; nothing was changed then.
  func replace(_ body: (borrowing Connection) throws(StoreError) -> Void) throws(StoreError) {
    try store.enter()
    let ticket: Int?
    do {
      defer { store.leave() }
      ticket = try alone { lease throws(StoreError) in try replace(on: lease, body) }
    }
    hub.deliver(through: ticket)
    checkpointIfNeeded()
  }

  private func replace(
    on lease: ConnectionPool.Lease, _ body: (borrowing Connection) throws(StoreError) -> Void
  ) throws(StoreError) -> Int? {
    try begin(lease)
    do throws(StoreError) {
      try body(lease.connection)
      let head = try ChangeLog.head(lease.connection)
      let ticket = try committing(lease) {
        lease.head = head
        return tail.restart(at: head)
      }
      wakeOthers(after: lease)
      return ticket
    } catch {
      lease.connection.rollBack()
      lease.head = nil
      throw error
    }
  }
}
