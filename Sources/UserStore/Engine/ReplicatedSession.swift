/// A session of an engine whose databases can have replicas, or be one: an optional capability.
package protocol ReplicatedSession: Session {
  /// The identity of the records, and the users that were purged, in the order of their ids; nil if no replica follows the database.
  func replication() throws(StoreError) -> (identity: Int64, purged: [Int64])?

  /// Lets replicas follow from now on, in the open write transaction.
  func serveReplicas() throws(StoreError)

  /// Whether the database is a replica.
  func followsServer() throws(StoreError) -> Bool
}

extension Session {
  /// Whether a replica has pulled the set whose end is this row; such a set has a note as its last row before the end.
  func hasPulled(endingAt end: Int64) throws(StoreError) -> Bool {
    guard try (self as? any ReplicatedSession)?.followsServer() == true else { return false }
    return try rows(after: end - 2, through: end - 1).contains(where: \.isPulled)
  }

  package func server() throws(StoreError) -> (identity: Int64, purged: [Int64])? {
    try (self as? any ReplicatedSession)?.replication()
  }
}
