extension UserStore {
  /// A consumer as the database knows it, whether anybody holds its name at present or not.
  public struct ConsumerInfo: Sendable {
    /// Its name.
    public let name: String
    /// The end of the last set that it acknowledged, or where it began.
    public let cursor: Cursor
    /// How many changes came after it; nil when the log does not go on from there.
    public let lag: Int?
    /// When it last acknowledged or its name was last taken, in milliseconds since 1970, by the writer's clock.
    public let timestamp: Int64
  }
}

extension UserStore.Transaction {
  /// The consumers that keep their position in the store, by name.
  ///
  /// Counting the changes that each lacks takes about a second for ten millions.
  ///
  /// - Returns: all of them, in the order of the names' bytes; acknowledgements that are not written yet do not show.
  /// - Throws: what reading can throw.
  public mutating func consumers() throws(StoreError) -> [UserStore.ConsumerInfo] {
    var consumers: [ConsumerInfo] = []
    for row in try session.consumers() {
      let lag = try lag(after: row.cursor)
      consumers.append(ConsumerInfo(name: row.name, cursor: row.cursor, lag: lag, timestamp: row.timestamp))
    }
    return consumers
  }

  private mutating func lag(after cursor: Cursor) throws(StoreError) -> Int? {
    do { _ = try session.verify(cursor) } catch {
      if error.code == .diverged || error.code == .compacted { return nil }
      throw error
    }
    return try session.changeCount(after: cursor.revision.rawValue)
  }
}

package typealias ConsumerInfo = UserStore.ConsumerInfo
