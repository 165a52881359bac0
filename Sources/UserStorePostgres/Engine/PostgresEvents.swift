import Synchronization
import UserStore

/// The notifications of the server, with which a watcher notices the commits of others; a replica has none.
///
/// One thread waits; any thread may wake it. A lost connection is made again, and then something may have been missed.
final class PostgresEvents: CommitEvents, @unchecked Sendable {
  // Unchecked: only the waiting thread uses the connection, which the engine hands over once.
  private let connection: PostgresConnection
  private let interrupter: PostgresInterrupter
  private let progress: PostgresProgress
  private var isConnected = true
  let idleLook: Int

  /// The time between two attempts to connect again.
  private static let retryInterval = Duration.seconds(1)

  // Each store has another time between two looks, near `idleLook`: those of many machines do not look at the same moment.
  init(_ connections: PostgresConnections, idleLook: Duration) throws(StoreError) {
    let mean = Int(idleLook / .microseconds(1))
    self.idleLook = .random(in: mean - mean / 10...mean + mean / 10)
    connection = try connections.open(watches: true)
    interrupter = connection.interrupter
    progress = connections.progress
    try listen()
  }

  /// On a replica, LISTEN is not possible; after it has become the primary, it is with the next connection.
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
      var events: CommitEvent = notifications.isEmpty ? [] : .touched
      if isWoken { events.insert(.woken) }
      return events
    } catch {
      isConnected = false
      if interrupter.isInterrupted { return .woken }
      // The wait of a connection that is closed fails at once.
      if microseconds > 0 { interrupter.wait(for: min(Self.retryInterval, Duration.microseconds(microseconds))) }
      return []
    }
  }

  /// Tests whether the connection still answers: one whose network swallows everything receives no notification, for good.
  func missedEvent() {
    guard isConnected else { return }
    do throws(StoreError) { try connection.run(Self.test) } catch { isConnected = false }
  }

  private static let test = PostgresStatement("test the connection for notifications", "SELECT")

  /// The server's notifications cost nothing that could be saved.
  func setReportsWrites(_ reportsWrites: Bool) {}

  func wake() { interrupter.wake() }

  func closeEvents() { connection.close() }
}
