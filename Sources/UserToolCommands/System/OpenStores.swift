import UserStore

/// The stores that the process has open.
///
/// They are closed before a signal or a timeout ends the process: a remaining -wal file holds committed data, which is lost if
/// somebody copies or moves only the database file.
final class OpenStores: Sendable {
  static let shared = OpenStores()

  private let state = Lock(State())

  private struct State {
    var stores: [Entry] = []
    var isClosing = false
  }

  private struct Entry: Sendable {
    weak let store: UserStore?
  }

  /// Opens a store on a file; throws `Exit` if the process is about to end.
  ///
  /// Holds the lock, so that `close` also closes a store that is being opened.
  func open(_ make: () throws -> UserStore) throws -> UserStore {
    try state.withLock { state in
      if state.isClosing { throw Exit(status: Signals.shared.status ?? .failure) }
      let store = try make()
      state.stores.append(Entry(store: store))
      return store
    }
  }

  /// Opens a store on a server; throws `Exit` if the process is about to end.
  ///
  /// `close` does not wait for it: the server may not answer, and loses nothing when the process ends.
  func openOnServer(_ make: () throws -> UserStore) throws -> UserStore {
    let store = try make()
    return try open { store }
  }

  /// Closes all stores and interrupts all operations, which fail and roll back their writes.
  ///
  /// - Returns: Whether there was anything to close.
  func close() -> Bool {
    // Before taking the lock, which an open that waits for another program may hold.
    UserStore.interruptOnce()
    let stores = state.withLock { state in
      state.isClosing = true
      return state.stores.compactMap(\.store)
    }
    for store in stores { store.interruptAndClose() }
    return UserStore.interruptOpenFiles() || !stores.isEmpty
  }
}
