import AsyncAlgorithms
import Hummingbird
import ServiceLifecycle
import UserStore

extension API {
  /// What following the log comes upon.
  enum Step {
    case set(UserStore.ChangeSet)
    /// The end of what is committed; `isDue` at first, and then once in each interval.
    case end(Cursor, isDue: Bool)
  }

  /// Calls `body` with every set after a cursor as soon as it is committed, until it returns false, or the server ends.
  ///
  /// Not a feed of the store, which reads when it likes: here every stream reads in its turn. While a server of databases
  /// cannot be reached, nothing is called.
  ///
  /// - Throws: The errors of `UserStore.page(after:)`, `CancellationError`, and what `body` throws.
  func follow(
    after start: Cursor, every interval: Duration, in response: LiveResponse, _ body: (Step) async throws -> Bool
  ) async throws {
    var (cursor, isDue) = (start, true)
    let ticks = AsyncTimerSequence.repeating(every: interval).map { _ in true }
    for try await isTick in merge(bell.rings().map { false }, ticks).cancelOnGracefulShutdown() {
      isDue = isDue || isTick
      let goesOn = try await response.inTurn {
        while let sets = try await page(after: cursor) {
          for set in sets {
            cursor = set.cursor
            guard try await body(.set(set)), !Task.isShuttingDownGracefully else { return false }
          }
          if !sets.isEmpty { continue }
          defer { isDue = false }
          return try await body(.end(cursor, isDue: isDue))
        }
        return true
      }
      if !goesOn { return }
    }
    try Task.checkCancellation()
  }

  /// The next sets; nil if there is no connection to the server of the database.
  private func page(after cursor: Cursor) async throws -> [UserStore.ChangeSet]? {
    do { return try await store.page(after: cursor) } catch let error as StoreError {
      if error.code == .connectionLost { return nil }
      throw error
    }
  }
}
