import UserStore

/// The stores that the process has open.
///
/// What ends the process from outside closes them first: a -wal file that stays behind holds committed data, and whoever
/// copies or moves the database alone loses it.
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

  /// Opens a store.
  ///
  /// Under the lock, so that a store that is just being opened is closed too.
  ///
  /// - Throws: what `make` throws; `Exit` when the process is about to end.
  func open(_ make: () throws -> UserStore) throws -> UserStore {
    try state.withLock { state in
      if state.isClosing { throw Exit(status: Signals.shared.status ?? .failure) }
      let store = try make()
      state.stores.append(Entry(store: store))
      return store
    }
  }

  /// Closes all of them, and ends what is under way in them and in other files: it fails, and what it wrote is rolled back.
  ///
  /// - Returns: whether there was anything to close.
  func close() -> Bool {
    // Before the lock, which a store has that is being opened: it may be waiting for another program.
    UserStore.interruptOnce()
    let stores = state.withLock { state in
      state.isClosing = true
      return state.stores.compactMap(\.store)
    }
    for store in stores { store.interruptAndClose() }
    return UserStore.interruptOpenFiles() || !stores.isEmpty
  }
}
