extension UserStore {
  /// A named consumer as it is in the database, whether its name is held or not.
  public struct ConsumerInfo: Sendable {
    /// The name.
    public let name: String
    /// The end of the last set that it acknowledged, or where it started.
    public let cursor: Cursor
    /// The number of changes and events after the cursor; nil if the log does not continue after it.
    public let lag: Int?
    /// When it last acknowledged or its name was last claimed, in milliseconds since 1970, by the writer's clock.
    public let timestamp: Int64
  }
}

extension UserStore.Transaction {
  /// Returns the consumers that keep their position in the store, in the order of the bytes of their names.
  ///
  /// Counting the changes after each cursor takes about a second for ten million changes.
  ///
  /// - Returns: All consumers, without acknowledgments that are not written yet.
  /// - Throws: `StoreError` if reading fails.
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
