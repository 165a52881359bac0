import UserStore

/// The stores that the process has open.
///
/// They are closed before a signal or a timeout ends the process: a -wal file that stays behind holds committed data, which
/// is lost when only the database file is copied or moved.
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
  /// The lock is held meanwhile, so that `close` also closes a store that is just being opened.
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
  /// `close` does not wait for it: the server may not answer, and the end of the process leaves nothing there.
  func openOnServer(_ make: () throws -> UserStore) throws -> UserStore {
    let store = try make()
    return try open { store }
  }

  /// Closes all stores and interrupts the operations in them and in other files: these fail, and their writes are rolled
  /// back.
  ///
  /// - Returns: whether there was anything to close.
  func close() -> Bool {
    // Before taking the lock: a store that is being opened holds it, and may be waiting for another program.
    UserStore.interruptOnce()
    let stores = state.withLock { state in
      state.isClosing = true
      return state.stores.compactMap(\.store)
    }
    for store in stores { store.interruptAndClose() }
    return UserStore.interruptOpenFiles() || !stores.isEmpty
  }
}
