import Synchronization
import UserStore

/// The server's notifications about commits of others; a replica sends none.
///
/// One thread waits; any thread may wake it. Notifications may have been missed when a lost connection is restored.
final class PostgresEvents: CommitEvents, @unchecked Sendable {
  // Unchecked: only the waiting thread uses the connection, which the engine hands over once.
  private let connection: PostgresConnection
  private let interrupter: PostgresInterrupter
  private let progress: PostgresProgress
  private var isConnected = true
  let idleLook: Int

  private static let retryInterval = Duration.seconds(1)

  // The time between two looks is random, near `idleLook`, so that stores on many machines do not look at the same moment.
  init(_ connections: PostgresConnections, idleLook: Duration) throws(StoreError) {
    let mean = Int(idleLook / .microseconds(1))
    self.idleLook = .random(in: mean - mean / 10...mean + mean / 10)
    connection = try connections.open(watches: true)
    interrupter = connection.interrupter
    progress = connections.progress
    try listen()
  }

  /// A replica refuses LISTEN; after it has become the primary, the next connection can listen.
  private func listen() throws(StoreError) {
    do throws(StoreError) {
      try connection.listen(to: Self.channel)
      progress.isOnReplica = false
    } catch {
      guard error.postgres?.sqlState == .readOnlyTransaction else { throw error }
      progress.isOnReplica = true
    }
  }

  private static let channel = "userstore"

  var hasEvents: Bool { !progress.isOnReplica }

  func wait(microseconds: Int) -> CommitEvent {
    do throws(StoreError) {
      if !isConnected {
        try connection.reconnect()
        try listen()
        isConnected = true
        return .overflowed
      }
      let (notifications, isWoken) = try connection.wait(for: .microseconds(microseconds))
      var events: CommitEvent = notifications.isEmpty ? [] : .signaled
      if isWoken { events.insert(.woken) }
      return events
    } catch {
      isConnected = false
      if interrupter.isInterrupted { return .woken }
      // Waiting on a closed connection would fail at once.
      if microseconds > 0 { interrupter.wait(for: min(Self.retryInterval, Duration.microseconds(microseconds))) }
      return []
    }
  }

  /// Tests whether the connection still answers: if the network drops everything, no notification will ever arrive.
  func missedEvent() {
    guard isConnected else { return }
    do throws(StoreError) { try connection.run(Self.test) } catch { isConnected = false }
  }

  private static let test = PostgresStatement("test the connection for notifications", "SELECT")

  /// Turning the server's notifications off would save nothing.
  func setReportsWrites(_ reportsWrites: Bool) {}

  func wake() { interrupter.wake() }

  func closeEvents() { connection.close() }
}
