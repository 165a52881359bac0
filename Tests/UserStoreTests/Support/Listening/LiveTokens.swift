@testable import UserStore

/// Creates tokens and counts those that are still alive.
final class LiveTokens: Sendable {
  private let made = Lock<[WeakReference]>([])

  func make() -> Token {
    let token = Token()
    made.withLock { $0.append(WeakReference(object: token)) }
    return token
  }

  var count: Int { made.withLock { $0 }.count { $0.object != nil } }
}

/// A number that keeps an object alive.
struct Item: Equatable, CustomStringConvertible, Sendable {
  let number: Int
  var token: Token?

  var description: String { "\(number)" }

  static func == (left: Item, right: Item) -> Bool { left.number == right.number }
}

/// An object that records its release.
final class ReleaseRecorder: Sendable {
  private let received: Recorder<String>

  init(_ received: Recorder<String>) {
    self.received = received
  }

  deinit { received.record("gone") }
}
