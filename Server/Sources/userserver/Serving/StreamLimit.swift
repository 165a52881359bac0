import HTTPTypes
import Synchronization

/// Limits how many streams are open at the same time, so that other requests still find a connection.
final class StreamLimit: Sendable {
  /// A place, which is free again when it is released, also if the response is never written.
  final class Place: Sendable {
    private let limit: StreamLimit

    fileprivate init(_ limit: StreamLimit) { self.limit = limit }

    deinit { limit.open.withLock { $0 -= 1 } }
  }

  private let limit: Int
  private let open = Mutex(0)

  init(_ limit: Int) { self.limit = limit }

  var count: Int { open.withLock { $0 } }

  /// Takes a place; throws if there is none.
  func place() throws(Problem) -> Place {
    let isFree = open.withLock { count in
      if count >= limit { return false }
      count += 1
      return true
    }
    if isFree { return Place(self) }
    throw Problem(
      .serviceUnavailable, "tooManyStreams", "\(limit) streams are open", hint: "try again later", retryAfter: 5)
  }
}
