/// Sends the requests of a replica to its server.
public protocol SyncTransport: Sendable {
  /// The address of the server, for messages.
  var address: String { get }

  /// Sends a request once, with its path, query, header, and body, and returns when the answer begins.
  ///
  /// The replica repeats what fails; a transport neither repeats nor waits for a better time.
  ///
  /// - Throws: Any error if there is no answer; the replica shows it and tries again.
  func send(_ request: SyncRequest) async throws -> SyncResponse
}

/// The answer of a server.
public struct SyncResponse: Sendable {
  /// The status of HTTP; 200 for success.
  public let status: Int
  /// How long the server asks to wait before the next request (`Retry-After`).
  public let retryAfter: Duration?
  /// The body, in pieces of any size.
  public let body: AsyncThrowingStream<[UInt8], any Error>

  /// Creates an answer.
  public init(status: Int, retryAfter: Duration? = nil, body: AsyncThrowingStream<[UInt8], any Error>) {
    self.status = status
    self.retryAfter = retryAfter
    self.body = body
  }

  /// Creates an answer whose whole body is in memory.
  public init(status: Int, retryAfter: Duration? = nil, body: [UInt8]) {
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    continuation.yield(body)
    continuation.finish()
    self.init(status: status, retryAfter: retryAfter, body: stream)
  }

  /// The most bytes of an answer: a page, and one value of the largest size with every character escaped.
  static let bodyLimit = 128 << 20

  /// The whole body.
  func bytes() async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await piece in body {
      bytes += piece
      guard bytes.count <= Self.bodyLimit else {
        throw SyncFailure("the answer is longer than \(Self.bodyLimit) bytes")
      }
    }
    return bytes
  }
}

/// A request that failed, or an answer that is not one of the protocol.
struct SyncFailure: Error, CustomStringConvertible {
  let description: String
  var retryAfter: Duration?

  init(_ description: String, retryAfter: Duration? = nil) {
    self.description = description
    self.retryAfter = retryAfter
  }
}
