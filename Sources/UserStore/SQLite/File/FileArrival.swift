/// Waits for a store that cannot be opened yet.
///
/// Create it before the attempt to open the store, so that it misses nothing that happens in between: a writer may have the
/// store open for only a few milliseconds.
package final class FileArrival: Sendable {
  /// How often to try if the system reports no events, in microseconds.
  private static let pause = 250_000
  private let events: DirectoryEvents

  /// Creates an object that watches the files of a store, which need not exist.
  ///
  /// - Throws: `StoreError.Code.unexpected` if the process has no descriptors left.
  package init(of path: String) throws(StoreError) {
    let (folder, name) = Files.split((try? Files.canonical(path)) ?? path)
    do {
      events = try DirectoryEvents(folder: folder, names: [name, name + "-wal", name + "-shm"], usingEvents: true)
    } catch {
      throw StoreError(.unexpected, "cannot wait for \(path): \(error)", cause: error)
    }
  }

  /// Sleeps until something happens to the store's files, for up to a quarter of a second.
  package func wait() { _ = events.wait(microseconds: Self.pause) }

  /// Ends a `wait`, the current one or the next.
  package func wake() { events.wake() }
}
