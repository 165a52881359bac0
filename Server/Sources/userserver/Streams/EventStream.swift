import HTTPTypes
import Hummingbird
import ServiceLifecycle
import UserStore

/// Writes server-sent events (html.spec.whatwg.org, section 9.2).
struct EventStream {
  let response: LiveResponse

  /// Sends an event; the client's next request repeats `id` as its Last-Event-ID.
  func send(_ event: String, id: String? = nil, retry: Int? = nil, _ data: String) async throws {
    try await response.write(Self.text(event, id: id, retry: retry, data))
  }

  /// Sends the last event, even if memory is exhausted.
  func close(because reason: String) async throws {
    let data = JSONText.object([("reason", JSONText.text(reason))])
    try await response.write(Self.text("closing", data), isRequired: true)
  }

  private static func text(_ event: String, id: String? = nil, retry: Int? = nil, _ data: String) -> String {
    let first = retry.map { "retry: \($0)\n" } ?? ""
    let id = id.map { "id: \($0)\n" } ?? ""
    // JSON has no line breaks.
    return first + "event: \(event)\n" + id + "data: \(data)\n\n"
  }
}

/// The end of a stream, and the interval of its heartbeats.
struct StreamClock {
  /// The time between two heartbeats; the stream's length is a multiple of it.
  let interval: Duration
  /// The interval in whole seconds, for clients.
  var seconds: Int { Int((interval / .seconds(1)).rounded(.up)) }
  private let end: ContinuousClock.Instant
  private let reason: String

  /// Creates a clock.
  ///
  /// `heartbeat` is the longest interval. `age` is the longest time of a stream, varied by a tenth, so that streams that began
  /// together do not end together. `timeout` is a shorter time that the client wants.
  init(heartbeat: Duration, age: Duration, timeout: Duration?) {
    let age = age * Double.random(in: 0.9...1.1)
    let length = min(age, timeout ?? age)
    reason = timeout.map { $0 <= age } ?? false ? "timeout" : "age"
    interval = length / max(1, (length / heartbeat).rounded(.up))
    end = .now + length
  }

  /// The reason if the stream must end; nil if it continues.
  var isOver: String? {
    // A heartbeat may come a little early.
    ContinuousClock.now + .milliseconds(5) >= end ? reason : nil
  }
}

extension API {
  /// A response of events until `body` returns the reason of its end.
  func eventStream(
    _ request: Request, _ body: @escaping @Sendable (EventStream) async throws -> String
  ) throws(Problem) -> Response {
    try streaming(
      request, Self.eventStream, streams.permit(1, for: access.subject),
      whenTokenEnds: { try await EventStream(response: $0).close(because: "token") }
    ) { response in
      let stream = EventStream(response: response)
      let reason: String
      do { reason = try await body(stream) } catch let problem as Problem {
        // The memory budget ends a little before the server does.
        reason = problem.code == Problem.shuttingDown.code ? endReason() : problem.code
      }
      try await stream.close(because: reason)
    }
  }

  /// A response whose body is written until `body` returns, the token ends, or the client disconnects, and which keeps the permit until
  /// then.
  func streaming(
    _ request: Request, _ type: String, _ permit: Budget.Permit?,
    whenTokenEnds end: @escaping @Sendable (LiveResponse) async throws -> Void = { _ in },
    _ body: @escaping @Sendable (LiveResponse) async throws -> Void
  ) throws(Problem) -> Response {
    // No one reads the body, and after four parts Hummingbird waits for a reader without end.
    if request.hasBody { throw .badRequest("this request cannot have a body") }
    let memory = try memory.permit(0, for: access.subject)
    let responseBody = ResponseBody { [access, channel, turns] writer in
      let response = ResponseStream(writer, to: channel)
      let live = LiveResponse(response, memory, turns, of: access.subject)
      // Otherwise Hummingbird does not cancel a response when its client closes the connection (its issue 618).
      do {
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          do { try await access.whileValid { try await body(live) } } catch is Access.Ended { try await end(live) }
        }
      } catch let error as StoreError {
        logFailure(error, request)
        throw error
      }
      try await response.finish()
    }
    // Hummingbird cannot read another request after it.
    return Response(
      status: .ok, headers: [.contentType: type, .connection: "close"], body: responseBody.keeping(permit))
  }

  func clock(_ parameters: Parameters) throws(Problem) -> StreamClock {
    let heartbeat = try parameters.integer("heartbeat", in: 1...300).map { Duration.seconds($0) }
    let timeout = try parameters.integer("timeout", in: 1...3_600).map { Duration.seconds($0) }
    return StreamClock(heartbeat: heartbeat ?? settings.heartbeat, age: settings.streamAge, timeout: timeout)
  }

  func hello(_ cursor: Cursor, _ clock: StreamClock) -> String {
    JSONText.object([
      ("store", JSONText.text(cursor.store)), ("revision", "\(cursor.revision)"),
      ("heartbeat", "\(clock.seconds)"), ("version", "1"),
    ])
  }

  /// The milliseconds until a client that lost its connection tries again.
  static let retry = 1_000
}
