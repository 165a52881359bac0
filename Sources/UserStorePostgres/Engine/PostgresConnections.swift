import Synchronization
import UserStore

/// The open connections of a store, to end their waits when it is closed.
final class PostgresConnections: Sendable {
  private struct Entry {
    weak var interrupter: PostgresInterrupter?
  }

  let settings: PostgresSettings
  private let entries = Mutex<[Entry]>([])

  init(_ settings: PostgresSettings) { self.settings = settings }

  func open() throws(StoreError) -> PostgresConnection {
    do throws(PostgresError) {
      let interrupter = try PostgresInterrupter()
      entries.withLock { entries in
        entries.removeAll { $0.interrupter == nil }
        entries.append(Entry(interrupter: interrupter))
      }
      return try PostgresConnection(settings, interrupter: interrupter)
    } catch {
      throw StoreError(error)
    }
  }

  /// Interrupts all connections, and returns whether one is still open.
  func interrupt() -> Bool {
    let interrupters = entries.withLock { entries in entries.compactMap(\.interrupter) }
    for interrupter in interrupters { interrupter.interrupt() }
    return !interrupters.isEmpty
  }
}
