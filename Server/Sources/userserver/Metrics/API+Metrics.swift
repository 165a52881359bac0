import HTTPTypes
import Hummingbird
import Metrics
import UserStore
import UserStoreSync

/// What the server measures, with swift-metrics.
///
/// Labels have only values that are in the code: what clients send is in none of them.
enum Measured {
  static let help = [
    "userstore_http_requests_total": "Requests, by route, method, and class of the status.",
    "userstore_http_request_duration_seconds": "The time until the answer to a request began.",
    "userstore_sets_committed_total": "Change sets that were committed, by this server or by another program.",
    "userstore_writes_refused_total": "Writes that were answered with an error, by its code.",
    "userstore_streams_open": "Open streams, with replicas that wait for changes.",
    "userstore_lists_live": "Live lists that are open, each counted once for all streams of it.",
    "userstore_database_readable": "Whether the database can be read; without it, what is read from it is missing.",
    "userstore_log_rows": "Revisions in the log.",
    "userstore_log_oldest_revision": "The revision before the oldest one in the log.",
    "userstore_log_newest_revision": "The newest revision in the log.",
    "userstore_replicas": "Known replicas, by what they do; silent are those that sent nothing for two minutes.",
    "userstore_replicas_largest_lag_rows": "The most revisions that a replica is behind, silent ones left out.",
  ]

  static func request(_ route: String, _ method: HTTPRequest.Method, _ status: String, _ duration: Duration) {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    let method = known.contains(method.rawValue) ? method.rawValue : "other"
    let labels = [("route", route), ("method", method), ("status", status)]
    Counter(label: "userstore_http_requests_total", dimensions: labels).increment()
    Timer(label: "userstore_http_request_duration_seconds", dimensions: [("route", route)])
      .recordNanoseconds(Int64(duration / .nanoseconds(1)))
  }

  static func commit(isForeign: Bool, count: Int = 1) {
    Counter(label: "userstore_sets_committed_total", dimensions: [("writer", isForeign ? "other" : "server")])
      .increment(by: count)
  }

  static func refusal(_ code: String) {
    Counter(label: "userstore_writes_refused_total", dimensions: [("code", code)]).increment()
  }

  static func gauge(_ name: String, _ value: Int?, _ dimensions: [(String, String)] = []) {
    let gauge = Gauge(label: name, dimensions: dimensions)
    if let value { gauge.record(value) } else { gauge.destroy() }
  }
}

/// `GET /metrics`.
extension API {
  func metrics(_ request: Request) async throws -> Response {
    _ = try Parameters(request)
    Measured.gauge("userstore_streams_open", streams.used)
    Measured.gauge("userstore_lists_live", lists.count)
    await measureDatabase()
    return whole(registry.text.utf8, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"])
  }

  private func measureDatabase() async {
    var log: (oldest: Int, newest: Int)?
    var replicas: [SyncService.ReplicaInfo]?
    // Without a limit of time, a server of databases that does not answer would keep all who ask.
    if (try? await healthCheck.run()) != nil {
      log = try? await store.read { users in
        (Int(try users.oldestCursor.revision.rawValue), Int(try users.cursor.revision.rawValue))
      }
      replicas = try? await self.replicas?.replicas()
    }
    Measured.gauge("userstore_database_readable", log == nil ? 0 : 1)
    Measured.gauge("userstore_log_oldest_revision", log?.oldest)
    Measured.gauge("userstore_log_newest_revision", log?.newest)
    Measured.gauge("userstore_log_rows", log.map { $0.newest - $0.oldest })
    let since = Time.now - 120_000
    let active = replicas?.filter { $0.timestamp >= since }
    for state in SyncService.ReplicaInfo.State.allCases {
      Measured.gauge("userstore_replicas", active?.count { $0.state == state }, [("state", state.rawValue)])
    }
    Measured.gauge("userstore_replicas", replicas.map { $0.count - (active?.count ?? 0) }, [("state", "silent")])
    Measured.gauge("userstore_replicas_largest_lag_rows", active.map { $0.compactMap(\.behind).max() ?? 0 })
  }
}
