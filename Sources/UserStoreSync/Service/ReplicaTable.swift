import UserStore

/// What the service knows of its replicas: in memory, and for a limited number; of more, those whose last request is the oldest are
/// forgotten.
final class ReplicaTable: Sendable {
  struct Key: Hashable {
    let subject: String
    let producer: Int64
  }

  private struct Entry {
    var cursor: Cursor?
    var isCopying = false
    var refusals = 0
    var subset: Int?
    var timestamp: Int64 = 0
    /// The number of its last request, in the order of all: the clock may jump.
    var last = 0
    /// The numbers of its requests that wait.
    var waiting: Set<Int> = []
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var asked = 0
  }

  private let limit: Int
  private let now: @Sendable () -> Int64
  private let state = Lock(State())

  init(limit: Int, now: @escaping @Sendable () -> Int64) { (self.limit, self.now) = (limit, now) }

  /// Notes a request; returns its number.
  func note(_ request: SyncRequest, of key: Key) -> Int {
    state.withLock { state in
      state.asked += 1
      var entry = state.entries[key] ?? Entry()
      switch request.resource {
      case .server: (entry.cursor, entry.isCopying) = (nil, true)
      case .users(_, let start): (entry.cursor, entry.isCopying, entry.subset) = (start, true, request.users?.count)
      case .changes(let cursor, _, let also, _):
        (entry.cursor, entry.subset) = (cursor, request.users?.count)
        // Both a copy, and a replica that has sent changes, have two cursors verified.
        if also == nil { entry.isCopying = false }
      case .push, .replicas: break
      }
      (entry.timestamp, entry.last) = (now(), state.asked)
      state.entries[key] = entry
      if state.entries.count > limit {
        // Several at once, because finding them takes a while: a client can send one number after the other.
        let newest = state.entries.sorted { $0.value.last > $1.value.last }.prefix(limit - limit / 10)
        state.entries = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
      }
      return state.asked
    }
  }

  /// Notes that a request waits, or no longer does.
  func note(_ request: Int, of key: Key, waits: Bool) {
    state.withLock { state in
      if waits { state.entries[key]?.waiting.insert(request) } else { state.entries[key]?.waiting.remove(request) }
    }
  }

  /// Counts an error for a replica that is known; a client without a token must not make others forgotten.
  func noteRefusal(of key: Key) { state.withLock { $0.entries[key]?.refusals += 1 } }

  /// The replicas, first those that asked last.
  func replicas(behind head: Cursor) -> [SyncService.ReplicaInfo] {
    state.withLock { $0.entries }.sorted { $0.value.last > $1.value.last }.map { key, entry in
      let behind = entry.cursor.flatMap { cursor -> Int? in
        let distance = head.revision.rawValue - cursor.revision.rawValue
        return cursor.epoch == head.epoch && distance >= 0 ? Int(distance) : nil
      }
      return SyncService.ReplicaInfo(
        producer: key.producer, subject: key.subject, cursor: entry.cursor, behind: behind,
        state: !entry.waiting.isEmpty ? .listening : entry.isCopying ? .copying : .following,
        refusals: entry.refusals, subset: entry.subset, timestamp: entry.timestamp)
    }
  }
}
