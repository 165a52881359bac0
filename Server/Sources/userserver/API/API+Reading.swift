import CUserServerFiles
import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import UserStore
import UserStoreSync
import UserStoreText

extension API {
  func health(_ request: Request) async throws -> Response {
    _ = try Parameters(request)
    if Task.isShuttingDownGracefully { throw Problem.shuttingDown }
    do { try await healthCheck.run() } catch let error as StoreError {
      logFailure(error, request)
      // Anybody may ask, so the answer omits the reason, which contains names.
      throw Problem(.serviceUnavailable, error.code.rawValue, "the database cannot be read", retryAfter: 1)
    }
    return json(#"{"status":"ok"}"#)
  }

  func openAPI(_ request: Request) async throws -> Response {
    json(unsafe String(cString: openapi_json()))
  }

  func about(_ request: Request) async throws -> Response {
    _ = try Parameters(request)
    let (cursor, users) = try await store.read { [access] users in
      (try users.cursor, try users.count(where: access.rights.readable))
    }
    // Where the users are kept is nothing for people who may read a part of them.
    let readsAll = access.rights.readsAll
    return json(
      JSONText.object([
        ("store", JSONText.text(cursor.store)), ("path", JSONText.text(readsAll ? settings.database : nil)),
        ("revision", "\(cursor.revision)"),
        ("cursor", JSONText.text(cursor.description)), ("users", "\(users)"),
        ("version", JSONText.text(UserStore.version)),
        ("readOnly", "\(settings.isReadOnly)"), ("heartbeat", "\(settings.heartbeat.seconds)"),
        ("streams", readsAll ? "\(streams.used)" : "null"), ("replica", readsAll ? try await replica() : "null"),
      ]))
  }

  /// What the database has to send to its own server; null if it is no replica, or one that a version without writes has made.
  private func replica() async throws -> String {
    let status: Replica.Status?
    do { status = try await Replica.status(of: store) } catch let error as StoreError
      where [.unsupported, .schemaTooOld].contains(error.code)
    { status = nil }
    guard let status else { return "null" }
    return JSONText.object([
      ("server", JSONText.text(status.address)), ("writes", "\(status.takesWrites)"), ("pending", "\(status.pending)"),
      ("since", JSONText.text(status.oldestPending.map { Time.text(milliseconds: $0) })),
      ("refusals", "\(status.refusals)"),
    ])
  }

  func users(_ request: Request) async throws -> Response {
    let parameters = try Parameters(
      request, once: Parameters.once + ["count", "previous"], repeated: Parameters.repeated)
    let text = try parameters.query()
    let query = try access.limited(text.query(.parameters))
    let (isCounted, hasPrevious) = (try parameters.flag("count"), try parameters.flag("previous"))
    let page = try await store.read { [access, bodyPermit] users in
      try access.check(text, in: &users)
      var page = UserPage(query, bodyPermit)
      var all = query
      // One more row shows whether there is a next page.
      all.limit = query.limit.map { $0 + 1 }
      try users.iterateUsers(matching: all) { try page.add($0) }
      let cursor = try users.cursor
      var members = [
        ("revision", "\(cursor.revision)"), ("cursor", JSONText.text(cursor.description)),
        ("next", JSONText.text(page.next)),
      ]
      if !isCounted, !hasPrevious { return page.json(with: members) }
      let count = try users.count(where: query.where)
      let before = try query.isAfterStart.map { count - (try users.count(where: query.where && $0)) } ?? 0
      if isCounted { members += [("count", "\(count)"), ("before", "\(before)")] }
      if hasPrevious {
        let last = try users.user(before - (query.limit ?? before), of: query)
        members.append(("previous", JSONText.text(try last.map { try UserPage.place(after: $0, in: query) })))
      }
      return page.json(with: members)
    }
    return json(page)
  }

  func user(_ id: String, _ request: Request) async throws -> Response {
    _ = try Parameters(request)
    let id = try userID(id)
    // Before the database is asked, so that the time of the answer tells nothing either.
    guard access.rights.may(.read, id) else { throw Self.noUser(id) }
    let (text, tag) = try await store.read { [access, bodyPermit] users in
      // In the same state: it may have been handed over.
      let access = try access.resolved(in: &users, about: id)
      guard access.rights.may(.read, id), let user = try access.rights.user(id, in: &users) else {
        throw Self.noUser(id)
      }
      try bodyPermit?.grow(by: user.byteCount)
      let text = user.json
      return (text, ETag(of: text))
    }
    if let tags = try EntityTags(.ifMatch, of: request), !tags.contain(tag) { throw Self.changed(id, since: tags, tag) }
    if try EntityTags(.ifNoneMatch, of: request)?.contain(tag, isWeak: true) ?? false {
      return Response(status: .notModified, headers: [.eTag: tag.text])
    }
    return json(text, headers: [.eTag: tag.text])
  }

  func consumers(_ request: Request) async throws -> Response {
    _ = try Parameters(request)
    let consumers = try await store.read { try $0.consumers() }
    let elements = consumers.map { consumer in
      JSONText.object([
        ("name", JSONText.text(consumer.name)), ("revision", "\(consumer.cursor.revision)"),
        ("cursor", JSONText.text(consumer.cursor.description)), ("lag", consumer.lag.map { "\($0)" } ?? "null"),
        ("at", JSONText.text(Time.text(milliseconds: consumer.timestamp))),
      ])
    }
    return json(JSONText.object([("consumers", JSONText.array(elements))]))
  }

  func userID(_ text: String) throws(Problem) -> User.ID {
    guard let number = Int64(canonical: text) else {
      throw Problem(.notFound, "userNotFound", "\"\(text.prefix(40))\" is not the id of a user")
    }
    return User.ID(number)
  }

  static func noUser(_ id: User.ID) -> Problem { Problem(.notFound, "userNotFound", "there is no user \(id)") }
}

typealias User = UserStore.User
typealias Cursor = UserStore.Cursor

/// A page of users, which ends early if the users are large.
private struct UserPage {
  private let query: UserStore.Query
  private let memory: Budget.Permit?
  /// One text to which everything is appended: a page may be large, and copies of it do not count.
  private var text = #"{"users":["#
  private var count = 0
  private var last: User?
  private var bytes = 0
  private(set) var next: String?

  private static let byteLimit = 16 << 20
  /// A place becomes part of an address, where a byte takes up to three.
  private static let placeLimit = 16_000

  init(_ query: UserStore.Query, _ memory: Budget.Permit?) { (self.query, self.memory) = (query, memory) }

  /// Ends the page, an object with the users and further members.
  mutating func json(with members: [(name: String, json: String)]) -> String {
    text += "]"
    for member in members { text += ",\(JSONText.text(member.name)):\(member.json)" }
    text += "}"
    return text
  }

  /// Adds a user; returns false after the last one.
  mutating func add(_ user: User) throws(Problem) -> Bool {
    if let last, count == query.limit || bytes > Self.byteLimit {
      next = try Self.place(after: last, in: query)
      return false
    }
    let row = user.json
    try memory?.grow(by: row.utf8.count)
    bytes += row.utf8.count
    if count > 0 { text += "," }
    text += row
    count += 1
    last = user
    return true
  }

  static func place(after user: User, in query: UserStore.Query) throws(Problem) -> String {
    if let place = QueryText.place(after: user, in: query), place.utf8.count <= placeLimit { return place }
    throw .badRequest(
      "the values that the users are sorted by are too long for the place of another page", parameter: "sort",
      hint: "sort by another attribute, or take all users with a larger limit")
  }
}

extension UserStore.ReadTransaction {
  /// The user at a position in a query's order, regardless of its start; the last one if there are fewer, nil for none.
  fileprivate mutating func user(_ number: Int, of query: UserStore.Query) throws -> User? {
    if number < 1 { return nil }
    var (first, user) = (query, nil as User?)
    (first.start, first.limit, first.showing) = (nil, number, [])
    try forEachUser(matching: first) { user = $0 }
    return user
  }
}

/// Times as text, by Foundation: the library's own text is package-internal.
enum Time {
  /// A time in UTC, such as `2026-11-23T05:20:11.482Z`.
  static func text(milliseconds: Int64) -> String {
    // The format truncates, and a binary fraction may be a little too small.
    Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1_000).formatted(style)
  }

  private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

extension Duration {
  var seconds: Int64 { components.seconds }
}

extension Cursor {
  /// The log's number, which another or a restored database does not share.
  var store: String { String(description.split(separator: "-")[1]) }
}
