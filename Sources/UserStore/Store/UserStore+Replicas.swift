// What the target UserStoreSync needs of the library beside sessions and the log.

extension UserStore {
  /// Lets replicas follow the store; a file gets the tables for that.
  package func prepareServer() throws(StoreError) {
    let (isServer, decides) = try reader.reading { transaction throws(StoreError) in
      let session = try transaction.session
      return (try session.server() != nil, try session.replicated?.decides() == true)
    }
    if isServer, decides { return }
    do throws(StoreError) {
      try writable(writer).writing { transaction throws(StoreError) in
        guard let session = try transaction.session.replicated else {
          throw StoreError(.unsupported, "replicas cannot follow a store of this engine")
        }
        try session.serveReplicas()
      }
    } catch {
      // Replicas can follow without the tables for their sets.
      guard isServer, [.readOnly, .noPermission].contains(error.code) else { throw error }
    }
  }

  /// Removes purged values from the -wal file, on a thread of the store.
  @discardableResult
  package func eraseOldPages() async throws -> Bool {
    let writer = try writable(writer)
    return try await workers.perform { try writer.eraseOldPages() }
  }

  /// Reads a part of the log on one of the store's threads (`Reader.logPart`).
  package func logPart(after cursor: Cursor, part: Cursor?, also: Cursor?) async throws -> LogPart {
    try await reader.awaiting { [reader] in try reader.logPart(after: cursor, part: part, also: also) }
  }

  /// A stream with an element whenever there may be more of the log from now on, until the store is closed.
  package func rings() -> Bell.Rings { publication.rings() }
}

extension UserStore.Transaction {
  /// Throws `compacted`, `diverged` or `behind` unless this state has everything through a cursor.
  package mutating func requireState(from cursor: Cursor) throws(StoreError) { _ = try session.verify(cursor) }

  /// Calls `body` with each user after an id, in the order of the ids, until it returns false.
  package mutating func forEachUser(after last: User.ID?, while body: (User) -> Bool) throws(StoreError) {
    var request = RowRequest.all
    if let last { request.start = Query.Position(values: [], id: last) }
    try session.eachUser(request, while: body)
  }

  /// Calls `body` with each user of some, in the order of the ids, until it returns false.
  package mutating func forEachUser(in ids: [User.ID], while body: (User) -> Bool) throws(StoreError) {
    let condition = Condition(.isOneOf(.id, ids.map { .integer($0.rawValue) }))
    try session.eachUser(RowRequest(condition: condition, order: [], columns: []), while: body)
  }
}

extension UserStore.Transaction where Mode == UserStore.Reading {
  /// Returns the changes in the next page of the log after a cursor, and a cursor after them; nil at the end of the log.
  ///
  /// - Throws: `StoreError.Code.diverged`, `.compacted`, `.behind`, and the codes of reading.
  package mutating func changes(after cursor: Cursor) throws(StoreError) -> (changes: [Change], next: Cursor)? {
    let end = try session.verify(cursor)
    guard let page = try session.changes(after: cursor.revision.rawValue, through: end),
      let next = try session.cursor(at: page.last)
    else { return nil }
    return (page.changes, next)
  }
}

extension Session {
  /// The changes among rows of the log; of more than a page, the first ones.
  package func changes(inRows rows: ClosedRange<Int64>) throws(StoreError) -> [Change] {
    try self.rows(after: rows.lowerBound - 1, through: rows.upperBound).entries.changes
  }

  /// When the oldest row of the log was written, in milliseconds since 1970; nil for an empty log.
  package func oldestTime() throws(StoreError) -> Int64? {
    let start = try horizon().revision.rawValue
    return try rows(after: start, through: start + 1).first?.change.timestamp
  }

  /// Removes the values of a removed user from the log, in the open write transaction, and notes it if there were any or replicas follow
  /// this store; has no effect if the user exists.
  package func purge(_ user: User.ID) throws(StoreError) {
    if try !value(.name, of: user).isNull { return }
    var (position, isNews): (Int64?, Bool) = (nil, try server() != nil)
    while true {
      let step = try PurgeStep(of: user, after: position, self)
      if step.count > 0 {
        try step.perform(self)
        isNews = true
      }
      if step.isLast { break }
      position = step.position
    }
    if isNews { try append(.purged(user)) }
  }
}
