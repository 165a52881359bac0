import Synchronization

/// The part of the log that a store's sessions have read: a replica may be behind another that was read before.
final class PostgresProgress: Sendable {
  private let newest = Atomic(Int64.min)
  private let replica = Atomic(false)

  /// The newest end of the log that a session has read; later reads must not return an older state.
  var newestEnd: Int64 { newest.load(ordering: .sequentiallyConsistent) }

  func note(_ end: Int64) { newest.max(end, ordering: .sequentiallyConsistent) }

  /// Whether a session has used a replica since the connection for notifications was made; then the watcher polls.
  var isOnReplica: Bool {
    get { replica.load(ordering: .sequentiallyConsistent) }
    set { replica.store(newValue, ordering: .sequentiallyConsistent) }
  }
}
