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
  func reader(at cursor: Cursor) -> PastReader {
    { (body) throws(StoreError) in
      try reader.reading(isDelivering: isDelivering) { transaction throws(StoreError) in
        guard let state = try PastState(at: cursor, try transaction.session) else { return false }
        try body(state)
        return true
      }
    }
  }
}
