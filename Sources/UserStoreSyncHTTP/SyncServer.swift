import Foundation
public import UserStore
public import UserStoreSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The way to a server of replicas by HTTP, with Foundation's `URLSession`.
///
///     let server = try SyncServer("https://users.example.com", token: .file("/etc/app/token"))
///     let replica = try Replica(of: store, from: server, users: .all, writes: .none)
///
/// The system's proxies and certificates are used; on Linux, those of the variables that curl knows, such as `https_proxy`. A
/// redirection is not followed, because the token would go to another server.
public final class SyncServer: SyncTransport {
  /// The token that the server asks for.
  public enum Token: Sendable {
    case text(String)
    /// The first line of a file, which is read before each request: another token needs no restart.
    case file(String)
  }

  /// The address of the server.
  public let address: String
  private let base: String
  private let token: Token?
  private let session: URLSession
  private let receiver: Receiver

  /// The longest time without a byte; a server answers after 25 seconds even if there is nothing new.
  private static let silence: TimeInterval = 60

  /// Creates the way to a server; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - address: The address of the server, with its scheme: `https://users.example.com`. A path before `/sync` is kept.
  ///   - token: The token; nil for a server without.
  /// - Throws: `StoreError.Code.badValue` for another text.
  public init(_ address: String, token: Token? = nil) throws(StoreError) {
    guard let url = URL(string: address), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      url.host?.isEmpty == false, url.query == nil, url.fragment == nil, url.user == nil
    else {
      throw StoreError(
        .badValue, "“\(address.prefix(200))” is not the address of a server, such as https://users.example.com")
    }
    self.address = address
    base = address.hasSuffix("/") ? String(address.dropLast()) : address
    self.token = token
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = Self.silence
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    receiver = Receiver()
    session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  /// Sends a request once.
  ///
  /// - Throws: An error that says why there is no answer, or why the file of the token cannot be read.
  public func send(_ request: SyncRequest) async throws -> SyncResponse {
    let query = request.query.isEmpty ? "" : "?" + request.query
    guard let url = URL(string: base + request.path + query) else { throw URLError(.badURL) }
    var message = URLRequest(url: url)
    if let token = try text(of: token) { message.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    message.setValue("UserStore/\(UserStore.version)", forHTTPHeaderField: "User-Agent")
    if let replica = request.replica { message.setValue(replica, forHTTPHeaderField: SyncRequest.replicaHeader) }
    if let body = request.body {
      message.httpMethod = "POST"
      message.setValue("application/json", forHTTPHeaderField: "Content-Type")
      message.httpBody = Data(body)
    }
    let task = session.dataTask(with: message)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in receiver.start(task, continuation) }
    } onCancel: {
      task.cancel()
    }
  }

  private func text(of token: Token?) throws -> String? {
    switch token {
    case nil: return nil
    case .text(let text): return text
    case .file(let path):
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        throw Failure(description: "the file with the token, \(path), cannot be read")
      }
      return text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}

extension SyncServer {
  /// A request without an answer, in the words of the system; `URLError` describes itself by all its fields.
  fileprivate struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}

/// Receives the answers of the running requests, piece by piece.
private final class Receiver: NSObject, URLSessionDataDelegate, Sendable {
  private struct Answer {
    /// Who waits for the beginning of the answer.
    var waiting: CheckedContinuation<SyncResponse, any Error>?
    var body: AsyncThrowingStream<[UInt8], any Error>.Continuation?
  }

  private let answers = Lock<[Int: Answer]>([:])

  func start(_ task: URLSessionDataTask, _ waiting: CheckedContinuation<SyncResponse, any Error>) {
    answers.withLock { $0[task.taskIdentifier] = Answer(waiting: waiting) }
    task.resume()
  }

  func urlSession(
    _ session: URLSession, dataTask task: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let http = response as? HTTPURLResponse
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    continuation.onTermination = { reason in if case .cancelled = reason { task.cancel() } }
    let waiting = answers.withLock { answers -> CheckedContinuation<SyncResponse, any Error>? in
      answers[task.taskIdentifier]?.body = continuation
      return answers[task.taskIdentifier]?.waiting.take()
    }
    let seconds = http?.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
    waiting?.resume(
      returning: SyncResponse(
        status: http?.statusCode ?? 0, retryAfter: seconds.map { .seconds(max(0, $0)) }, body: stream))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
    _ = answers.withLock { $0[task.taskIdentifier]?.body }?.yield([UInt8](data))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let answer = answers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    let failure = error.map { SyncServer.Failure(description: $0.localizedDescription) }
    answer?.waiting?.resume(throwing: failure ?? SyncServer.Failure(description: "the server did not answer"))
    answer?.body?.finish(throwing: failure)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
