import AsyncAlgorithms
import Hummingbird
import ServiceLifecycle
import UserStore

extension API {
  enum Step {
    /// A set, or the rest of one.
    case set(UserStore.ChangeSet)
    /// The end of the committed log; `isDue` at first, and then once in each interval.
    case end(Cursor, isDue: Bool)
  }

  enum Next {
    case goOn
    /// The same set, from one of its changes on, after the written part is sent.
    case rest(from: Int64)
    case stop
  }

  /// Calls `body` with every set after a cursor as soon as it is committed, until it returns `stop`, or the server ends.
  ///
  /// A feed of the store would keep a page of the log while its reader waits; here only texts wait for a slow client
  /// (`LiveResponse.inTurn`). Like a feed, this tries again each second while the database's server cannot be reached.
  ///
  /// - Throws: The errors of `UserStore.page(after:)`, `CancellationError`, and those of `body`.
  func follow(
    after start: Cursor, every interval: Duration, in response: LiveResponse, _ body: (Step) async throws -> Next
  ) async throws {
    var (cursor, rest, isDue) = (start, Int64?.none, true)
    /// Renders the next sets; returns whether there may be more, nil to stop.
    func render() async throws -> Bool? {
      if let first = rest { cursor = try await self.cursor(before: first) }
      rest = nil
      let sets = try await store.page(after: cursor)
      for set in sets {
        if Task.isShuttingDownGracefully { return nil }
        switch try await body(.set(set)) {
        case .goOn: cursor = set.cursor
        case .rest(let first):
          rest = first
          return true
        case .stop: return nil
        }
      }
      if !sets.isEmpty { return true }
      defer { isDue = false }
      if case .stop = try await body(.end(cursor, isDue: isDue)) { return nil }
      return false
    }

    let ticks = AsyncTimerSequence.repeating(every: interval).map { _ in true }
    for try await isTick in merge(bell.rings().map { false }, ticks).cancelOnGracefulShutdown() {
      isDue = isDue || isTick
      var hasMore = true
      while hasMore {
        do {
          guard let more = try await response.inTurn(render) else { return }
          hasMore = more
        } catch let error as StoreError where error.code == .connectionLost {
          try await Task.sleep(for: .seconds(1))
          if Task.isShuttingDownGracefully { return }
        }
      }
    }
    try Task.checkCancellation()
  }

  private func cursor(before change: Int64) async throws -> Cursor {
    let cursor = try await store.read { try $0.cursor(at: UserStore.Revision(rawValue: change - 1)) }
    guard let cursor else { throw StoreError(.compacted, "the changes after revision \(change - 1) were deleted") }
    return cursor
  }
}
