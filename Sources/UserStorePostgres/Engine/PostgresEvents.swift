import Synchronization
import UserStore

/// The notifications of the server, with which a watcher notices the commits of others.
///
/// One thread waits; any thread may wake it. A lost connection is made again, and then something may have been missed.
final class PostgresEvents: CommitEvents, @unchecked Sendable {
  // Unchecked: only the waiting thread uses the connection, which the engine hands over once.
  private let connection: PostgresConnection
  private let interrupter: PostgresInterrupter
  private var isListening = true
  let idleLook: Int

  /// The time between two attempts to connect again.
  private static let retryInterval = Duration.seconds(1)

  // Each store has another time between two looks, near `idleLook`: those of many machines do not look at the same moment.
  init(_ connections: PostgresConnections, idleLook: Duration) throws(StoreError) {
    let mean = Int(idleLook / .microseconds(1))
    self.idleLook = .random(in: mean - mean / 10...mean + mean / 10)
    connection = try connections.open()
    interrupter = connection.interrupter
    do throws(PostgresError) { try connection.listen(to: Self.channel) } catch { throw StoreError(error) }
  }

  private static let channel = "userstore"

  var hasEvents: Bool { true }

  func wait(microseconds: Int) -> CommitEvent {
    do throws(PostgresError) {
      if !isListening {
        try connection.reconnect()
        try connection.listen(to: Self.channel)
        isListening = true
        return .overflowed
      }
      let (notifications, isWoken) = try connection.wait(for: .microseconds(microseconds))
      var events: CommitEvent = notifications.isEmpty ? [] : .touched
      if isWoken { events.insert(.woken) }
      return events
    } catch {
      isListening = false
      if interrupter.isInterrupted { return .woken }
      // The wait of a connection that is closed fails at once.
      if microseconds > 0 { interrupter.wait(for: min(Self.retryInterval, Duration.microseconds(microseconds))) }
      return []
    }
  }

  /// The server's notifications cost nothing that could be saved.
  func setReportsWrites(_ reportsWrites: Bool) {}

  func wake() { interrupter.wake() }

  func closeEvents() { connection.close() }
}
