// Modelled in Model/WakeUp.pml and Model/Pump.pml; change both.

/// What the hub, other threads and other processes are told of a commit.
extension Writer {
  /// Whole sets that the hub was not given yet: those of foreign writers first, then the transaction's own.
  ///
  /// Where the foreign ones cannot be read any more (somebody took a row out), the hub is told that the log begins anew.
  func pendingSets(
    after head: Cursor, through end: Cursor, on lease: ConnectionPool.Lease
  ) throws(StoreError) -> [ChangeSet] {
    let position = tail.position
    do { return try sets(after: position, through: end, on: lease) } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      _ = tail.reset(from: position, to: head, because: error.code)
      return try sets(after: head, through: end, on: lease)
    }
  }

  /// The first page of them at hand; what goes beyond is read again when it is delivered, by pages.
  private func sets(
    after position: Cursor, through end: Cursor, on lease: ConnectionPool.Lease
  ) throws(StoreError) -> [ChangeSet] {
    var position = position
    guard position.epoch == end.epoch else { return [] }
    let pages: PagedChanges.Read = { [reader] start, end throws(StoreError) in
      try reader.page(after: start, through: end)
    }
    var sets: [ChangeSet] = []
    while position.revision < end.revision {
      let page = try LogPage(after: position, through: end.revision.rawValue, lease.connection, pages: pages)
      if sets.isEmpty { sets = page.sets } else { sets += page.ranges(after: position, pages: pages) }
      position = page.position
    }
    return sets
  }

  /// After the commit, while nobody else can write through this store.
  func publish(
    _ sets: [ChangeSet]?, after head: Cursor, through end: Cursor, on lease: ConnectionPool.Lease, _ cascade: Cascade?
  ) -> Int? {
    var sets = sets
    // Somebody came while it was being committed, and may have read the state before it. What cannot be read for them now
    // is found by the watcher, or by the next write: the tail stays before it.
    let hasCome = sets == nil && hub.hasListeners
    if hasCome { sets = try? pendingSets(after: head, through: end, on: lease) }
    let ticket = sets.map { tail.append($0, cascade: cascade) } ?? nil
    if sets == nil, !hasCome { tail.skip(to: end) }
    housekeeping.wrote(
      rows: end.revision.rawValue - head.revision.rawValue, walPages: lease.connection.hooks.walPages)
    return ticket
  }

  /// Feeds of this store, watchers of others; and whoever checkpoints learns how long the -wal file is.
  func wakeOthers(after lease: ConnectionPool.Lease) {
    wakeReaders()
    checkpoints?.note(walPages: lease.connection.hooks.walPages)
  }

  /// Lets those who read the log by themselves look again, here and in other processes.
  func wakeReaders() {
    bell.ring()
    if let file { Files.signal(file.walPath) }
  }
}
