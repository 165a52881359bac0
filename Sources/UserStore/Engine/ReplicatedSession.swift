/// A session of an engine whose databases can have replicas, or be one: an optional capability.
package protocol ReplicatedSession: Session {
  /// The identity of the records, and the users that were purged, in the order of their ids; nil if no replica follows the database.
  func replication() throws(StoreError) -> (identity: Int64, purged: [Int64])?

  /// Lets replicas follow, and send sets, from now on, in the open write transaction.
  func serveReplicas() throws(StoreError)

  /// Whether decisions can be stored, so that replicas can send sets.
  func decides() throws(StoreError) -> Bool

  /// Lets decisions be stored from now on, in the open write transaction.
  func keepDecisions() throws(StoreError)

  /// What is known of sets of a replica, in their order.
  func decisions(about sets: [(number: Int64, nonce: Int64)], of producer: Int64) throws(StoreError) -> [Decision?]

  /// Stores decisions about sets of a replica, in the open write transaction.
  func store(
    _ decisions: [(number: Int64, nonce: Int64, decision: Decision)], of producer: Int64
  ) throws(StoreError)

  /// Forgets the first thousand decisions about a replica's sets with numbers through one, if they are older than a time in milliseconds
  /// since 1970.
  func forgetDecisions(of producer: Int64, through number: Int64, before time: Int64) throws(StoreError)

  /// Whether the database is a replica.
  func followsServer() throws(StoreError) -> Bool

  /// Whether it is one that takes writes of the application, whose expectations its server checks.
  func takesWrites() throws(StoreError) -> Bool

  /// Throws `stillReferenced` if sets that the server has not decided are about a user.
  func requireDecided(_ user: User.ID) throws(StoreError)
}

/// What a server has decided about a set of a replica, or about another request that it may receive twice.
package struct Decision: Hashable, Sendable {
  /// `accepted`, or why not.
  package let result: String
  package let detail: String?

  package init(_ result: String, detail: String? = nil) { (self.result, self.detail) = (result, detail) }

  package static let accepted = Decision("accepted")
  /// The set may have been decided, but that was forgotten.
  package static let expired = Decision("expired", detail: "the server no longer knows whether it has received it")
  /// The number belongs to another set: the replica's file is a copy.
  package static let forked = Decision("forked")
}

extension Session {
  /// Whether a replica has pulled the set whose end is this row; such a set has a note as its last row before the end.
  func hasPulled(endingAt end: Int64) throws(StoreError) -> Bool {
    guard try replicated?.followsServer() == true else { return false }
    return try rows(after: end - 2, through: end - 1).contains(where: \.isPulled)
  }

  /// Notes, on a replica, what the writer of the open set expects a value to be.
  func noteExpectation(_ attribute: AttributeName, of user: User.ID, _ value: StoredValue) throws(StoreError) {
    if try replicated?.takesWrites() == true { try append(.expected(user, attribute, value)) }
  }

  package func server() throws(StoreError) -> (identity: Int64, purged: [Int64])? { try replicated?.replication() }

  package var replicated: (any ReplicatedSession)? { self as? any ReplicatedSession }
}
