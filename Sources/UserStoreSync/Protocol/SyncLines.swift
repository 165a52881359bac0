import UserStore

/// The version of the protocol.
let protocolVersion: Int64 = 1

/// What a replica has to know before it copies: the answer of `/sync`.
struct ServerState {
  let version: Int64
  let identity: String
  let cursor: Cursor
  /// Whom the server knows the replica as.
  let subject: String
  let grant: String
  let count: Int
  let purged: [Int64]

  var json: JSON {
    .object([
      ("version", .integer(version)), ("identity", .text(identity)), ("cursor", .text(cursor.description)),
      ("subject", .text(subject)), ("grant", .text(grant)), ("count", .integer(Int64(count))),
      (
        "limits",
        .object([
          ("users", .integer(Int64(SyncRequest.userLimit))), ("wait", .integer(Int64(SyncRequest.longestWait))),
        ])
      ), ("purged", .list(purged.map { .integer($0) })),
    ])
  }

  init(identity: String, cursor: Cursor, _ reader: (subject: String, grant: String), count: Int, purged: [Int64]) {
    (version, subject, grant) = (protocolVersion, reader.subject, reader.grant)
    (self.identity, self.cursor, self.count, self.purged) = (identity, cursor, count, purged)
  }

  /// The identity as text: 16 hexadecimal digits.
  static func text(ofIdentity identity: Int64) -> String {
    let hex = String(UInt64(bitPattern: identity), radix: 16)
    return String(repeating: "0", count: 16 - hex.count) + hex
  }

  init(_ bytes: [UInt8]) throws {
    guard let text = String(validating: bytes, as: UTF8.self), case .object(let members)? = JSONScanner.value(in: text),
      case .integer(let version)? = members.first(where: { $0.name == "version" })?.value
    else { throw SyncFailure("the answer is not that of a server of users") }
    self.version = version
    func member(_ name: String) -> JSON? { members.first { $0.name == name }?.value }
    guard case .text(let identity)? = member("identity"), case .text(let cursor)? = member("cursor"),
      case .text(let subject)? = member("subject"), case .text(let grant)? = member("grant"),
      case .integer(let count)? = member("count"),
      case .list(let purged)? = member("purged")
    else { throw SyncFailure("the answer about the server lacks a member") }
    (self.identity, self.cursor, self.count) = (identity, try Cursor(cursor), Int(clamping: count))
    (self.subject, self.grant) = (subject, grant)
    self.purged = purged.compactMap { if case .integer(let id) = $0 { id } else { nil } }
  }
}

/// A row of a set, as a replica applies it.
enum SyncRow {
  case added(Int64, AttributeName, StoredValue)
  case updated(Int64, AttributeName, old: StoredValue, new: StoredValue)
  case removed(Int64, AttributeName)
  case event(Int64?, name: StoredValue, payload: StoredValue)
  case purged(Int64)
  /// The set was sent by a replica, whose log has this random number where it ends.
  case pushed(Int64)
}

/// A page of users: the answer of `/sync/users`.
struct UsersPage {
  let cursor: Cursor
  let grant: String
  var users: [(id: Int64, values: [(attribute: String, value: StoredValue)])] = []
  var last: Int64?
  var hasMore = true

  init(_ bytes: [UInt8]) throws {
    var lines = Lines(bytes)
    let head = try lines.next("users")
    (cursor, grant) = (try Cursor(head.text("cursor")), try head.text("grant"))
    while let line = try lines.next() {
      if case .integer(let id)? = line.values.first?.value, line.values[0].name == "id" {
        users.append(
          (id, line.values.dropFirst().filter { !$0.value.isNull && $0.name != "id" }.map { ($0.name, $0.value) }))
      } else if line.operation == "end" {
        hasMore = try line.flag("more")
        if case .integer(let id) = try line.value("last") { last = id }
        return
      }
    }
    throw SyncFailure("the answer was cut off")
  }
}

/// Sets of changes: the answer of `/sync/changes`.
struct ChangesPage {
  let grant: String
  var sets: [(rows: [SyncRow], cursor: Cursor, origin: String?)] = []
  /// The rows of a set that goes on.
  var rest: [SyncRow] = []
  /// Through which the log was read: the end of a set.
  var cursor: Cursor
  var part: Cursor?
  var hasMore = true
  var head: Cursor?

  init(_ bytes: [UInt8]) throws {
    var lines = Lines(bytes)
    let first = try lines.next("changes")
    (grant, cursor) = (try first.text("grant"), try Cursor(first.text("after")))
    while let line = try lines.next() {
      switch line.operation {
      case "set":
        cursor = try Cursor(line.text("cursor"))
        sets.append((rest, cursor, String(storedValue: try line.value("origin"))))
        rest = []
      case "end":
        cursor = try Cursor(line.text("cursor"))
        if case .text(let text) = try line.value("part") { part = try Cursor(text) }
        hasMore = try line.flag("more")
        head = try Cursor(line.text("head"))
        guard part != nil || rest.isEmpty else { throw SyncFailure("a set has no end") }
        return
      default: if let row = try SyncRow(line) { rest.append(row) }
      }
    }
    // Cut off: the whole sets are taken, the rest comes again.
    guard !sets.isEmpty, !hasPurgedValues else { throw SyncFailure("the answer was cut off") }
    rest = []
  }

  /// The end of the log, if a purge there may have taken values of the page: it must be reached before the records are the server's.
  var target: Cursor? { hasPurgedValues ? head : nil }

  private var hasPurgedValues: Bool {
    (sets.map(\.rows) + [rest]).contains { rows in
      rows.contains { row in
        switch row {
        // A user without a hair color has such a row too. If it was purged, so was the name.
        case .added(_, .hairColor, .null): false
        case .added(_, _, .null), .updated(_, _, old: .null, new: .null): true
        default: false
        }
      }
    }
  }
}

extension SyncRow {
  /// Creates a row; nil for an operation that this version does not know.
  ///
  /// Only a program that turns checks off can store an attribute `id`, which no other file accepts.
  init?(_ line: Line) throws {
    if case .text("id")? = try? line.value("attribute") { return nil }
    switch line.operation {
    case "insert": self = .added(try line.integer("user"), try line.attribute, try line.value("new"))
    case "update":
      self = .updated(
        try line.integer("user"), try line.attribute, old: try line.value("old"), new: try line.value("new"))
    case "delete": self = .removed(try line.integer("user"), try line.attribute)
    case "event":
      let user: Int64? = if case .integer(let id) = try line.value("user") { id } else { nil }
      self = .event(user, name: try line.value("event"), payload: try line.value("payload"))
    case "purged": self = .purged(try line.integer("user"))
    case "pushed": self = .pushed(try line.number("nonce"))
    default: return nil
    }
  }
}

/// An object of plain values.
struct Line {
  let values: JSONScanner.Members

  var operation: String? { String(storedValue: (try? value("op")) ?? .null) }

  func value(_ name: String) throws -> StoredValue {
    for member in values where member.name == name { return member.value }
    throw SyncFailure("a line of the answer has no “\(name)”")
  }

  func text(_ name: String) throws -> String {
    guard let text = String(storedValue: try value(name)) else { throw SyncFailure("“\(name)” is no text") }
    return text
  }

  func integer(_ name: String) throws -> Int64 {
    guard case .integer(let number) = try value(name) else { throw SyncFailure("“\(name)” is no integer") }
    return number
  }

  /// An integer of 64 bits as a text, for readers of JSON that do not have such integers.
  func number(_ name: String) throws -> Int64 {
    guard let number = Int64(try text(name)) else { throw SyncFailure("“\(name)” is no number") }
    return number
  }

  func flag(_ name: String) throws -> Bool { try integer(name) != 0 }

  var attribute: AttributeName { get throws { AttributeName(try text("attribute")) } }
}

/// The lines of an answer.
struct Lines {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether there are no more bytes, not even of a line that was cut off.
  var isAtEnd: Bool { position == bytes.count }

  /// The next whole line; a last one without its line feed may have been cut off.
  mutating func next() throws -> Line? {
    guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { position = end + 1 }
    var scanner = JSONScanner(bytes[position..<end])
    do { return Line(values: try scanner.record()) } catch {
      throw SyncFailure("the answer is not JSON: \(error.reason)")
    }
  }

  mutating func next(_ operation: String) throws -> Line {
    guard let line = try next(), line.operation == operation else {
      throw SyncFailure("the answer does not begin with “\(operation)”")
    }
    return line
  }
}
