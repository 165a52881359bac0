/// A session of an engine whose databases replicas can follow: an optional capability.
package protocol ReplicatedSession: Session {
  /// The identity of the records, and the users that were purged, in the order of their ids; nil if no replica follows the database.
  func replication() throws(StoreError) -> (identity: Int64, purged: [Int64])?

  /// Lets replicas follow from now on, in the open write transaction.
  func serveReplicas() throws(StoreError)
}

extension Session {
  package func server() throws(StoreError) -> (identity: Int64, purged: [Int64])? {
    try (self as? any ReplicatedSession)?.replication()
  }
}
