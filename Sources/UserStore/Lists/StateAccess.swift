/// How live queries read the records.
struct StateAccess: Sendable {
  let reader: Reader
  let publication: Publication
  /// Whether it reads on the thread that delivers a round.
  var isDelivering = false

  var delivering: StateAccess { StateAccess(reader: reader, publication: publication, isDelivering: true) }

  /// Reads the content in a snapshot, and returns the last round that the snapshot includes, and whether the value has changed.
  func load(
    _ content: inout any LiveContent, discontinuity: StoreError.Code?
  ) throws(StoreError) -> (round: Int128, isChanged: Bool) {
    try reader.reading(isDelivering: isDelivering) { transaction throws(StoreError) in
      let cursor = try transaction.cursor
      let isChanged = try content.load(
        PastState(try transaction.session), at: cursor, discontinuity: discontinuity)
      return (publication.round(at: cursor), isChanged)
    }
  }

  /// Reads the state at the end of a set.
  func reader(at cursor: Cursor) -> PastReader { PastReader(access: self, cursor: cursor) }
}

/// Reads the state at the end of the set that is being delivered.
struct PastReader {
  fileprivate let access: StateAccess
  fileprivate let cursor: Cursor

  /// So many users are read in a millisecond.
  private static let fewUsers = 100

  /// Calls `body` with the state; returns false if that cannot be read.
  ///
  /// - Parameters:
  ///   - users: How many users `body` reads by their ids; nil if it finds users.
  ///   - body: Reads.
  /// - Returns: Whether the state could be read.
  /// - Throws: The codes that every read can throw, and the error of `body`.
  func callAsFunction(
    users: Int? = nil, _ body: (PastState) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    let (reader, isDelivering) = (access.reader, access.isDelivering)
    let isShort = isDelivering && (users ?? .max) <= Self.fewUsers
    return try reader.reading(isDelivering: isDelivering, isShort: isShort) { transaction throws(StoreError) in
      guard let state = try PastState(at: cursor, try transaction.session) else { return false }
      try body(state)
      return true
    }
  }
}
