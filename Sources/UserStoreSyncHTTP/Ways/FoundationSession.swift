#if !os(Linux)
  import Foundation
  import UserStore
  import UserStoreSync

  /// Sends requests with `URLSession`.
  final class WebSession: Sendable {
    private let session: URLSession
    private let receiver = Receiver()

    init() {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.timeoutIntervalForRequest = TimeInterval(Message.silence)
      configuration.httpShouldSetCookies = false
      configuration.urlCache = nil
      session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    func send(_ message: Message) async throws -> SyncResponse {
      guard let url = URL(string: message.url) else { throw URLError(.badURL) }
      var request = URLRequest(url: url)
      for (name, value) in message.headers { request.setValue(value, forHTTPHeaderField: name) }
      if let body = message.body {
        request.httpMethod = "POST"
        request.httpBody = Data(body)
      }
      let task = session.dataTask(with: request)
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in receiver.start(task, continuation) }
      } onCancel: {
        task.cancel()
      }
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
      let failure = error.map { HTTPFailure(description: $0.localizedDescription) }
      answer?.waiting?.resume(throwing: failure ?? HTTPFailure(description: "the server did not answer"))
      answer?.body?.finish(throwing: failure)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }
  }
#endif
