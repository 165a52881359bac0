public import UserStore

/// A request of a replica to its server: a path, a query, a header, and perhaps a body.
///
/// A server reads it from what it receives, and passes it to `SyncService`. A transport sends what it consists of.
public struct SyncRequest: Hashable, Sendable {
  package enum Resource: Hashable, Sendable {
    /// What a replica has to know before it copies.
    case server
    /// A page of users after one, from a state that has everything through a cursor.
    case users(after: Int64?, from: Cursor)
    /// The sets after a cursor, or the rest of the next one after a row of it.
    case changes(after: Cursor, part: Cursor?, also: Cursor?, wait: Int)
    /// Sets of the replica, which the server decides.
    case push([UInt8])
    /// What the server knows of its replicas.
    case replicas
  }

  package let resource: Resource
  /// The ids of a subset, ascending; nil for all users.
  package let users: [Int64]?

  /// The number that names the replica's file, positive; nil in a request of another client.
  package let producer: Int64?

  package init(_ resource: Resource, users: [Int64]? = nil, producer: Int64? = nil) {
    self.resource = resource
    self.users = users
    self.producer = producer
  }

  /// The most ids of a subset.
  package static let userLimit = 10_000
  /// The most seconds that an answer waits for changes.
  package static let longestWait = 25
  /// The most bytes of a body.
  public static let bodyLimit = 256 * 1_024
  /// The most bytes of the body of `/sync/push`: that of a set with one value of the largest size.
  public static let pushLimit = 24 << 20

  // MARK: Writing

  /// The path, which follows the address of the server: `/sync`, `/sync/users`, `/sync/changes`, `/sync/push`, or `/replicas`.
  public var path: String {
    switch resource {
    case .server: "/sync"
    case .users: "/sync/users"
    case .changes: "/sync/changes"
    case .push: "/sync/push"
    case .replicas: "/replicas"
    }
  }

  /// The query without its question mark; it needs no escapes.
  public var query: String {
    let parameters: [(String, String?)] =
      switch resource {
      case .server, .push, .replicas: []
      case .users(let last, let start): [("from", start.description), ("after", last.map { "\($0)" })]
      case .changes(let cursor, let part, let also, let wait):
        [
          ("after", cursor.description), ("part", part?.description), ("also", also?.description),
          ("wait", wait > 0 ? "\(wait)" : nil),
        ]
      }
    return parameters.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: "&")
  }

  /// The name of the header whose value is `replica`.
  ///
  /// It has no effect on the answer, so that a cache need not distinguish replicas.
  public static let replicaHeader = "Userstore-Replica"

  /// The number that names the replica; nil in a request without the header.
  public var replica: String? { producer.map { "\($0)" } }

  /// The body, which is JSON, or lines of JSON for `/sync/push`; nil if there is none.
  ///
  /// A request with a body is sent with the method POST, another with GET.
  public var body: [UInt8]? {
    if case .push(let body) = resource { return body }
    return users.map { JSON.object([("users", .list($0.map { .integer($0) }))]).bytes }
  }

  // MARK: Reading

  /// Creates a request from what a server has received.
  ///
  /// - Parameters:
  ///   - path: The path after the address of the server.
  ///   - query: The query without its question mark.
  ///   - body: The body; empty if there is none.
  ///   - replica: The value of the header `Userstore-Replica`; nil if there is none.
  /// - Throws: `StoreError.Code.badValue` and `.badCursor` for anything that is not a request.
  public init(path: String, query: String, body: [UInt8] = [], replica: String? = nil) throws(StoreError) {
    var parameters = try Parameters(query)
    switch path {
    case "/sync": resource = .server
    case "/replicas": resource = .replicas
    case "/sync/push": resource = .push(body)
    case "/sync/users": resource = .users(after: try parameters.integer("after"), from: try parameters.cursor("from"))
    case "/sync/changes":
      let wait = try parameters.integer("wait") ?? 0
      guard (0...Int64(Self.longestWait)).contains(wait) else {
        throw StoreError(.badValue, "wait must be 0 to \(Self.longestWait) seconds")
      }
      resource = .changes(
        after: try parameters.cursor("after"), part: try parameters.cursorOrNil("part"),
        also: try parameters.cursorOrNil("also"), wait: Int(wait))
    default: throw StoreError(.badValue, "“\(path.prefix(100))” is no resource for replicas")
    }
    try parameters.end()
    if case .push = resource { users = nil } else { users = body.isEmpty ? nil : try Self.users(in: body) }
    producer = try replica.map { text throws(StoreError) in try Self.producer(text) }
    switch resource {
    case .server, .replicas: if users != nil { throw StoreError(.badValue, "this request has no body") }
    case .push: if body.isEmpty { throw StoreError(.badValue, "this request has a body") }
    case .users, .changes: break
    }
  }

  private static func producer(_ text: String) throws(StoreError) -> Int64 {
    guard let number = Int64(text), number > 0, "\(number)" == text else {
      throw StoreError(.badValue, "the header \(replicaHeader) must be a number of 63 bits")
    }
    return number
  }

  /// The type of the body: `application/jsonl` for `/sync/push`, otherwise `application/json`.
  public var contentType: String { isPush ? SyncAnswer.lines : "application/json" }

  var isPush: Bool { if case .push = resource { true } else { false } }

  // MARK: Waiting

  /// Whether the answer may be awaited: for up to 25 seconds, if there is nothing new.
  public var waits: Bool { wait > 0 }

  /// The same request, for what is there now.
  public var withoutWait: SyncRequest {
    guard case .changes(let after, let part, let also, _) = resource else { return self }
    return SyncRequest(.changes(after: after, part: part, also: also, wait: 0), users: users, producer: producer)
  }

  /// The seconds that the answer may be awaited.
  var wait: Int {
    // A replica that has two cursors verified wants to know at once.
    if case .changes(_, _, nil, let wait) = resource { wait } else { 0 }
  }

  private static func users(in body: [UInt8]) throws(StoreError) -> [Int64] {
    let refusal = StoreError(
      .badValue, "expected the body {\"users\":[…]} with 1 to \(userLimit) ids in ascending order")
    guard body.count <= bodyLimit, let text = String(validating: body, as: UTF8.self),
      case .object(let members)? = JSONScanner.value(in: text), members.count == 1, members[0].name == "users",
      case .list(let values) = members[0].value, (1...userLimit).contains(values.count)
    else { throw refusal }
    var users: [Int64] = []
    for value in values {
      guard case .integer(let id) = value, users.last.map({ $0 < id }) ?? true else { throw refusal }
      users.append(id)
    }
    return users
  }

  /// The parameters of a query that nobody has read yet.
  private struct Parameters {
    private var values: [String: String] = [:]

    init(_ query: String) throws(StoreError) {
      for part in query.split(separator: "&") {
        let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
        guard pair.count == 2, values.updateValue(pair[1], forKey: pair[0]) == nil else {
          throw StoreError(.badValue, "the query “\(part.prefix(100))” has no value, or is given twice")
        }
      }
    }

    mutating func integer(_ name: String) throws(StoreError) -> Int64? {
      guard let text = values.removeValue(forKey: name) else { return nil }
      guard let number = Int64(text) else { throw StoreError(.badValue, "\(name) must be a number") }
      return number
    }

    mutating func cursorOrNil(_ name: String) throws(StoreError) -> Cursor? {
      guard let text = values.removeValue(forKey: name) else { return nil }
      return try Cursor(text)
    }

    mutating func cursor(_ name: String) throws(StoreError) -> Cursor {
      guard let cursor = try cursorOrNil(name) else { throw StoreError(.badValue, "\(name) is missing") }
      return cursor
    }

    func end() throws(StoreError) {
      if let name = values.keys.min() { throw StoreError(.badValue, "there is no parameter “\(name.prefix(100))”") }
    }
  }
}
