/// Waits for a store that cannot be opened yet.
///
/// Made before the attempt to open it that may fail, so that what happens in between is not missed: a writer may have
/// the store open for no longer than a few milliseconds.
package final class FileArrival: Sendable {
  /// How often to try when the system tells of nothing, in microseconds.
  private static let pause = 250_000
  private let events: DirectoryEvents

  /// - Parameter path: Where the store will be.
  /// - Throws: `StoreError.Code.unexpected` when the process has no descriptors left.
  package init(of path: String) throws(StoreError) {
    let (folder, name) = Files.split((try? Files.canonical(path)) ?? path)
    do {
      events = try DirectoryEvents(folder: folder, names: [name, name + "-wal", name + "-shm"], usingEvents: true)
    } catch {
      throw StoreError(.unexpected, "cannot wait for \(path): \(error)", cause: error)
    }
  }

  /// Sleeps until something happened to the store's files, a quarter of a second at most.
  package func wait() { _ = events.wait(microseconds: Self.pause) }

  /// Ends a `wait`, the present one or the next.
  package func wake() { events.wake() }
}
