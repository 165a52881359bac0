import Synchronization
import UserStore

/// The connections of a store, to interrupt them.
final class PostgresConnections: Sendable {
  let settings: PostgresSettings
  /// One for each connection that exists.
  private let interrupters = Mutex<[@Sendable () -> PostgresInterrupter?]>([])

  init(_ settings: PostgresSettings) { self.settings = settings }

  func open() throws(StoreError) -> PostgresConnection {
    do throws(PostgresError) {
      let interrupter = try PostgresInterrupter()
      interrupters.withLock { interrupters in
        interrupters.removeAll { $0() == nil }
        interrupters.append { [weak interrupter] in interrupter }
      }
      return try PostgresConnection(settings, interrupter: interrupter)
    } catch {
      throw StoreError(error)
    }
  }

  /// Opens a session of a store that is open: if no server can be reached, that is a lost connection.
  func openSession() throws(StoreError) -> PostgresSession {
    do { return PostgresSession(try open()) } catch {
      throw (error.cause as? PostgresError).map { StoreError(inOpenStore: $0) } ?? error
    }
  }

  /// Interrupts all connections, and returns whether one was open.
  func interrupt() -> Bool {
    let present = interrupters.withLock { interrupters in interrupters.compactMap { $0() } }
    return present.reduce(false) { isOpen, interrupter in
      interrupter.interrupt()
      return interrupter.isInUse || isOpen
    }
  }
}
