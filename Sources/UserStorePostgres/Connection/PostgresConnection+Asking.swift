import CUserStoreLibPQ
import UserStore

/// Asking the server, on another connection, about an overdue reply.
///
/// A firewall, a proxy or a dead host behind a load balancer can acknowledge everything and deliver nothing: to the operating
/// system, such a connection looks healthy. A time limit alone would also end long-running statements.
extension PostgresConnection {
  private static let selectWork = PostgresStatement(
    once: "ask about a reply",
    """
    SELECT a.wait_event_type IS DISTINCT FROM 'Client', (
      SELECT string_agg(format('process %s of the server (%s)', b.pid,
        concat_ws(', ', nullif(b.application_name, ''), b.usename, b.client_addr, b.state)), ', ' ORDER BY b.pid)
      FROM pg_stat_activity b WHERE b.pid = ANY (pg_blocking_pids($1)))
    FROM pg_stat_activity a WHERE a.pid = $1
    """, .int4)

  /// Returns whether the server is working on the reply, and notes the blocking processes in `blockers`.
  ///
  /// Returns false if the server's process waits for the client or no longer exists, or if the server cannot be reached. Behind a
  /// pooler, this needs another free connection.
  func askAboutReply() -> Bool {
    guard let process else { return false }
    // The other connection shares the interrupter and may consume a wake-up, so assume a pending one.
    hasPendingWakeUp = true
    defer { interrupter.isInUse = true }
    do throws(StoreError) {
      let other = try PostgresConnection(questioner, interrupter: interrupter)
      defer { other.close() }
      guard let row = try other.run(Self.selectWork, .int4(process)).first else { return false }
      blockers = row.textOrNil(1)
      return row.bool(0)
    } catch {
      // A server that refuses another connection is alive, but cannot be asked.
      return error.postgres?.refusal == .tooManyConnections
    }
  }

  private var questioner: PostgresSettings {
    func text(_ part: UnsafeMutablePointer<CChar>?) -> String { unsafe part.map { unsafe String(cString: $0) } ?? "" }
    var settings = settings
    settings.server = unsafe [
      ("host", text(PQhost(handle))), ("hostaddr", text(PQhostaddr(handle))), ("port", text(PQport(handle))),
      ("target_session_attrs", "any"),
    ]
    settings.needsPrimary = false
    let limit = (settings.replyTimeout ?? settings.connectTimeout) / 2
    settings.connectTimeout = min(settings.connectTimeout, limit)
    settings.replyTimeout = limit
    return settings
  }
}
