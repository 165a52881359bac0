import Synchronization
import UserStore

/// Checks, within a time limit, whether the database can be read.
///
/// A read waits for a connection, and all connections may be waiting for a server that does not answer. Simultaneous requests
/// share one read, so that repeated requests do not make that worse.
final class HealthCheck: Sendable {
  /// The same as for connecting to a server.
  private static let limit = Duration.seconds(10)
  private let read: @Sendable () async throws -> Void
  private let running = Mutex<Task<Void, any Error>?>(nil)

  init(read: @escaping @Sendable () async throws -> Void) { self.read = read }

  /// Returns after the database was read.
  ///
  /// - Throws: `StoreError.Code.busy` after the limit, and the errors of reading.
  func run() async throws {
    let check = running.withLock { running in
      let check =
        running
        ?? Task { [self] in
          defer { self.running.withLock { $0 = nil } }
          try await read()
        }
      running = check
      return check
    }
    let (results, answer) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
    Task { answer.yield(await check.result) }
    let timer = Task {
      try await Task.sleep(for: Self.limit)
      answer.yield(.failure(StoreError(.busy, "the database was not read in time")))
    }
    defer { timer.cancel() }
    for await result in results { return try result.get() }
    // The client has disconnected.
    throw CancellationError()
  }
}
