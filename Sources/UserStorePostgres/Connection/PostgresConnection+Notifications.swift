import CUserStoreLibPQ
import UserStore

struct PostgresNotification: Hashable, Sendable {
  let channel: String
  let payload: String
  /// The server's process that sent it (`serverProcess` of its connection).
  let process: Int32
}

extension PostgresConnection {
  /// Receives the notifications of a channel until the connection ends.
  func listen(to channel: String) throws(StoreError) {
    let quoted = channel.replacing("\"", with: "\"\"")
    try run(PostgresStatement(once: "listen to the channel \(channel)", "LISTEN \"\(quoted)\""))
  }

  /// Waits for notifications or a wake-up, at most for `timeout`; with zero, it does not wait.
  ///
  /// Returns an empty list on timeout. It notices a lost connection when the system reports it: at once if the server's process
  /// ended, and after the keepalive time if the network failed.
  func wait(for timeout: Duration) throws(StoreError) -> (notifications: [PostgresNotification], isWoken: Bool) {
    do throws(PostgresError) { return try awaitNotifications(until: .now + timeout) } catch { throw StoreError(error) }
  }

  private func awaitNotifications(
    until deadline: ContinuousClock.Instant
  ) throws(PostgresError) -> (notifications: [PostgresNotification], isWoken: Bool) {
    let purpose = "wait for notifications"
    let handle = unsafe try openHandle(purpose)
    // The first turn does not wait: it takes notifications that have already arrived.
    var isFirst = true
    while true {
      var notifications = unsafe takeNotifications(handle)
      let until = notifications.isEmpty && !hasPendingWakeUp && !isFirst ? deadline : .now
      let events = try awaitSocket(writes: false, until, purpose, endsAtDeadline: true)
      if events.contains(.readable), unsafe PQconsumeInput(handle) == 0 { throw lost(purpose) }
      notifications += unsafe takeNotifications(handle)
      if !notifications.isEmpty || hasPendingWakeUp || !isFirst && events.isEmpty {
        defer { hasPendingWakeUp = false }
        return (notifications, hasPendingWakeUp)
      }
      isFirst = false
    }
  }

  private func takeNotifications(_ handle: OpaquePointer) -> [PostgresNotification] {
    var notifications: [PostgresNotification] = []
    while let notification = unsafe PQnotifies(handle) {
      unsafe notifications.append(PostgresNotification(copying: notification))
      unsafe PQfreemem(notification)
    }
    return notifications
  }
}

extension PostgresNotification {
  @unsafe fileprivate init(copying notification: UnsafeMutablePointer<PGnotify>) {
    channel = unsafe String(cString: notification.pointee.relname)
    payload = unsafe String(cString: notification.pointee.extra)
    process = unsafe notification.pointee.be_pid
  }
}
