import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import UserStore

/// Serves a store over HTTP, until SIGINT or SIGTERM: `server users.db [PORT]`.
@main
struct Server {
  /// An error at the top level would end the program with a trap and a register dump.
  static func main() async {
    let arguments = CommandLine.arguments
    guard (2...3).contains(arguments.count), let port = UInt16(arguments.count == 3 ? arguments[2] : "8080") else {
      report("usage: server users.db [PORT]")
      exit(64)
    }
    do { try await run(path: arguments[1], port: Int(port)) } catch {
      report("error: \(error)")
      exit(1)
    }
  }

  static func report(_ message: String) { FileHandle.standardError.write(Data("server: \(message)\n".utf8)) }

  static func run(path: String, port: Int) async throws {
    let store = try await UserStore.open(path: path)
    let app = Application(
      router: routes(to: store), configuration: .init(address: .hostname("127.0.0.1", port: port)),
      services: [ClosingService(store: store)])
    var services = ServiceGroupConfiguration(
      services: [app], gracefulShutdownSignals: [.sigint, .sigterm], logger: app.logger)
    // A client that stops reading must not delay the end of the server.
    services.maximumGracefulShutdownDuration = .seconds(5)
    do { try await ServiceGroup(configuration: services).run() } catch {
      // If the server could not start, for example because the port is in use, nothing has closed the store.
      await store.close()
      throw error
    }
  }

  static func routes(to store: UserStore) -> Router<BasicRequestContext> {
    let router = Router()

    // All users, one JSON object per line. From the cursor in the header, `/events` continues without a gap.
    router.get("users") { _, _ in
      let (cursor, lines) = try await store.read { users in
        var lines = ByteBuffer()
        try users.forEachUser { lines.writeString($0.json + "\n") }
        return (try users.cursor, lines)
      }
      return Response(
        status: .ok, headers: [.contentType: "application/jsonl", .lastEventID: cursor.description],
        body: ResponseBody(byteBuffer: lines))
    }

    // The change sets after the cursor in Last-Event-ID, or from now on, as server-sent events. An event's id is the cursor of
    // its set, and its data has a line of JSON for each change. `?attribute=age` hides other attributes.
    router.get("events") { request, _ in
      let cursor: UserStore.Cursor
      if let id = request.headers[.lastEventID] {
        cursor = try UserStore.Cursor(id)
        // The feed would throw the same errors only after the response has begun.
        try await store.verify(cursor)
      } else {
        cursor = try await store.read { users in try users.cursor }
      }
      let attributes = request.uri.queryParameters.getAll("attribute").map { AttributeName(String($0)) }
      let topics: [UserStore.Topic] = attributes.isEmpty ? [.everything] : attributes.map { .attributeOfAll($0) }
      let feed = store.changeSets(after: cursor, of: topics, heartbeat: .seconds(15)).cancelOnGracefulShutdown()

      let body = ResponseBody { writer in
        // Otherwise Hummingbird does not cancel the response when the client closes the connection (its issue 618).
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          for try await set in feed {
            // A heartbeat has no changes; an event without data only advances the client's cursor.
            var event = ByteBuffer(string: "id: \(set.cursor)\n")
            try await set.forEach { change in event.writeString("data: \(change.json)\n") }
            event.writeString("\n")
            try await writer.write(event)
          }
        }
        try await writer.finish(nil)
      }
      return Response(
        status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"], body: body)
    }

    // Sets an attribute to the JSON value in the body; null unsets it. `?expecting=41` requires that its value is 41.
    router.put("users/{id}/{attribute}") { request, context in
      let id = UserStore.User.ID(try context.parameters.require("id", as: Int64.self))
      let name = try context.parameters.require("attribute")
      let attribute = AttributeName(name.removingPercentEncoding ?? name)
      let value = try await request.decode(as: StoredValue.self, context: context)
      let expected = try request.uri.queryParameters["expecting"].map { text in
        do { return try JSONDecoder().decode(StoredValue.self, from: Data(text.utf8)) } catch is DecodingError {
          throw HTTPError(.badRequest, message: "“expecting” is not a JSON value")
        }
      }
      try await store.write(origin: "server") { users in
        if let expected {
          try users.set(attribute, of: id, to: value, expecting: expected)
        } else {
          try users.set(attribute, of: id, to: value)
        }
      }
      return HTTPResponse.Status.noContent
    }
    return router
  }
}

/// Closes the store after the HTTP server has ended, since services end in the reverse order of the list.
struct ClosingService: Service {
  let store: UserStore

  func run() async {
    try? await gracefulShutdown()
    await store.close()
  }
}

extension HTTPField.Name {
  static let lastEventID = Self("Last-Event-ID")!
}

extension StoreError: @retroactive HTTPResponseError {
  /// The status of the response.
  public var status: HTTPResponse.Status {
    switch code {
    case .badCursor, .badValue: .badRequest
    case .userNotFound: .notFound
    case .conflict, .diverged, .replaced: .conflict
    case .compacted: .gone
    case .busy, .rolledBackWithGroup, .closed: .serviceUnavailable
    case .diskFull: .init(code: 507, reasonPhrase: "Insufficient Storage")
    default: .internalServerError
    }
  }

  /// Creates the response.
  public func response(from request: Request, context: some RequestContext) throws -> Response {
    try HTTPError(status, message: message).response(from: request, context: context)
  }
}
