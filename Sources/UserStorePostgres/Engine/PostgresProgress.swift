import Synchronization

/// What the sessions of a store have read of the log, for replicas: one may lag more than another that was read before.
final class PostgresProgress: Sendable {
  private let newest = Atomic(Int64.min)
  private let replica = Atomic(false)

  /// The newest end of the log that a session has read: what listeners and callers know, no later read may take back.
  var newestEnd: Int64 { newest.load(ordering: .sequentiallyConsistent) }

  func note(_ end: Int64) { newest.max(end, ordering: .sequentiallyConsistent) }

  /// Whether a session was on a replica, since the connection for notifications was made: then the watcher polls.
  var isOnReplica: Bool {
    get { replica.load(ordering: .sequentiallyConsistent) }
    set { replica.store(newValue, ordering: .sequentiallyConsistent) }
  }
}
