#if os(Linux)
  import CUserStoreCurl
  import Foundation
  import UserStore
  import UserStoreSync

  /// Sends requests with libcurl, each in a thread of its own, and keeps the connections.
  ///
  /// Not with the `URLSession` of Linux: it ends the process if an answer is cut off in its head, sends a request again without its body
  /// if the connection was gone, and takes a whole core while it waits for the first answer of a connection.
  final class WebSession: Sendable {
    private let idle = Lock<[Line]>([])

    func send(_ message: Message) async throws -> SyncResponse {
      let exchange = Exchange()
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { waiting in
          exchange.wait(waiting)
          Thread.detachNewThread { [self] in perform(message, exchange) }
        }
      } onCancel: {
        exchange.cancel()
      }
    }

    private func perform(_ message: Message, _ exchange: Exchange) {
      guard let line = idle.withLock({ $0.popLast() }) ?? Line() else {
        return exchange.end("there is no memory for a connection")
      }
      let reason = exchange.uses(line) ? line.perform(message, exchange) : "canceled"
      exchange.leaves()
      idle.withLock { $0.append(line) }
      exchange.end(reason)
    }
  }

  /// Connections that one request at a time uses.
  ///
  /// Unchecked: libcurl lets threads use a handle one after the other; `wake` is for all.
  @safe private final class Line: @unchecked Sendable {
    private let handle: OpaquePointer

    init?() {
      guard let handle = unsafe curl_line_create() else { return nil }
      unsafe self.handle = handle
    }

    deinit { unsafe curl_line_free(handle) }

    func wake() { unsafe curl_line_wake(handle) }

    /// Returns why there is no whole answer; nil if there is one.
    func perform(_ message: Message, _ exchange: Exchange) -> String? {
      // Without `Expect`, the body is sent at once.
      let lines = message.headers.map { "\($0.name): \($0.value)\n" }.joined() + "Expect:"
      let receiver = unsafe curl_receiver(
        context: Unmanaged.passUnretained(exchange).toOpaque(),
        begin: { context, status, retryAfter in
          unsafe Exchange.at(context)?.begin(status, retryAfter) ?? false
        },
        receive: { context, bytes, count in
          unsafe Exchange.at(context)?.receive([UInt8](UnsafeRawBufferPointer(start: bytes, count: count))) ?? false
        },
        is_canceled: { context in unsafe Exchange.at(context)?.isCanceled ?? true })
      let body = message.body ?? []
      let reason = unsafe body.withUnsafeBytes { bytes in
        unsafe curl_line_perform(
          handle, message.url, lines, bytes.baseAddress, bytes.count, message.body != nil,
          Message.silence, receiver)
      }
      return unsafe reason.map { unsafe String(cString: $0) }
    }
  }

  /// A request under way: who waits for its answer, and where the body goes.
  private final class Exchange: Sendable {
    private struct State {
      var waiting: CheckedContinuation<SyncResponse, any Error>?
      var body: AsyncThrowingStream<[UInt8], any Error>.Continuation?
      var line: Line?
      var isCanceled = false
    }

    private let state = Lock(State())

    static func at(_ context: UnsafeMutableRawPointer?) -> Exchange? {
      unsafe context.map { unsafe Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    var isCanceled: Bool { state.withLock { $0.isCanceled } }

    func wait(_ waiting: CheckedContinuation<SyncResponse, any Error>) { state.withLock { $0.waiting = waiting } }

    /// Returns false if the request was canceled before it began.
    func uses(_ line: Line) -> Bool {
      state.withLock { state in
        state.line = line
        return !state.isCanceled
      }
    }

    func leaves() { state.withLock { $0.line = nil } }

    func cancel() {
      state.withLock { state in
        state.isCanceled = true
        // In the lock, so that the line has not gone on to another request.
        state.line?.wake()
      }
    }

    /// The head of the answer is there.
    func begin(_ status: Int, _ retryAfter: Int64) -> Bool {
      let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
      continuation.onTermination = { [weak self] reason in if case .cancelled = reason { self?.cancel() } }
      let waiting = state.withLock { state -> CheckedContinuation<SyncResponse, any Error>? in
        state.body = continuation
        return state.waiting.take()
      }
      waiting?.resume(
        returning: SyncResponse(
          status: status, retryAfter: retryAfter < 0 ? nil : .seconds(retryAfter), body: stream))
      return !isCanceled
    }

    func receive(_ bytes: [UInt8]) -> Bool {
      state.withLock { $0.body }?.yield(bytes)
      return !isCanceled
    }

    /// Ends the answer, or the wait for it; with a reason, as a failure.
    func end(_ reason: String?) {
      let (waiting, body) = state.withLock { ($0.waiting.take(), $0.body.take()) }
      let failure = reason.map { HTTPFailure(description: $0) }
      waiting?.resume(throwing: failure ?? HTTPFailure(description: "the server did not answer"))
      body?.finish(throwing: failure)
    }
  }
#endif
