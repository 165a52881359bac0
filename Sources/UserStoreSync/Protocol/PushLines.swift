import UserStore

/// What a row of a replica's set does: as the replica sends it, and as it shows it on top of the server's record.
enum OwnRow: Hashable {
  case add(Int64, name: StoredValue)
  /// Null unsets the attribute.
  case set(Int64, AttributeName, StoredValue)
  case remove(Int64)
  case post(Int64?, name: StoredValue, payload: StoredValue)
  /// The writer expected the attribute to have this value.
  case expect(Int64, AttributeName, StoredValue)

  fileprivate var fields: [(name: String, value: StoredValue)] {
    switch self {
    case .add(let id, let name): [("op", .text("add")), ("user", .integer(id)), ("name", name)]
    case .set(let id, let attribute, let value):
      [("op", .text("set")), ("user", .integer(id)), ("attribute", .text(attribute.text)), ("value", value)]
    case .remove(let id): [("op", .text("remove")), ("user", .integer(id))]
    case .post(let id, let name, let payload):
      [("op", .text("post")), ("user", StoredValue(id)), ("event", name), ("payload", payload)]
    case .expect(let id, let attribute, let value):
      [("op", .text("expect")), ("user", .integer(id)), ("attribute", .text(attribute.text)), ("value", value)]
    }
  }

  /// Creates a row; nil for an operation that this version does not know.
  fileprivate init?(_ line: Line) throws {
    switch line.operation {
    case "add": self = .add(try line.integer("user"), name: try line.value("name"))
    case "set": self = .set(try line.integer("user"), try line.attribute, try line.value("value"))
    case "remove": self = .remove(try line.integer("user"))
    case "post":
      let user = try line.value("user").isNull ? nil : try line.integer("user")
      self = .post(user, name: try line.value("event"), payload: try line.value("payload"))
    case "expect": self = .expect(try line.integer("user"), try line.attribute, try line.value("value"))
    default: return nil
    }
  }

  /// The user that it is about; nil for an event about nobody.
  var user: Int64? {
    switch self {
    case .add(let id, _), .set(let id, _, _), .remove(let id), .expect(let id, _, _): id
    case .post(let id, _, _): id
    }
  }

  /// Its size in the memory of a request, at least.
  var byteCount: Int {
    switch self {
    case .add(_, let value), .set(_, _, let value), .expect(_, _, let value): 80 + value.byteCount
    case .remove: 40
    case .post(_, let name, let payload): 80 + name.byteCount + payload.byteCount
    }
  }
}

/// Sets that a replica sends: the body of `/sync/push`.
struct Push: Hashable {
  struct Set: Hashable {
    let number: Int64
    let nonce: Int64
    let origin: String?
    /// Nil if values of them were purged.
    let rows: [OwnRow]?
  }

  /// The most sets.
  static let setLimit = 1_000
  /// The size from which on no further set is added; many proxies accept a megabyte.
  static let byteLimit = 1 << 19

  let identity: String
  let subject: String
  let producer: Int64
  /// Through which the replica has applied the server's log.
  let cursor: Cursor
  /// Through which number the replica knows what was decided.
  let decided: Int64
  var sets: [Set] = []

  init(identity: String, subject: String, producer: Int64, cursor: Cursor, decided: Int64) {
    (self.identity, self.subject, self.producer, self.cursor, self.decided) = (
      identity, subject, producer, cursor, decided
    )
  }

  var bytes: [UInt8] {
    var lines = SyncAnswer.Lines()
    lines.append([
      ("op", .text("push")), ("identity", .text(identity)), ("subject", .text(subject)),
      ("producer", .text("\(producer)")), ("cursor", .text(cursor.description)), ("decided", .integer(decided)),
    ])
    for set in sets {
      for row in set.rows ?? [] { lines.append(JSON.record(row.fields).description) }
      lines.append([
        ("op", .text(set.rows == nil ? "void" : "end")), ("number", .integer(set.number)),
        ("nonce", .text("\(set.nonce)")), ("origin", set.origin.map { .text($0) } ?? .null),
      ])
    }
    return lines.bytes
  }

  /// Reads a body that a server has received.
  ///
  /// - Throws: `StoreError.Code.badValue` for anything else.
  init(_ bytes: [UInt8]) throws(StoreError) {
    do { try self.init(reading: bytes) } catch {
      throw StoreError(.badValue, "the body is not that of a replica that sends changes: \(error)")
    }
  }

  private init(reading bytes: [UInt8]) throws {
    var lines = Lines(bytes)
    let head = try lines.next("push")
    self.init(
      identity: try head.text("identity"), subject: try head.text("subject"), producer: try head.number("producer"),
      cursor: try Cursor(head.text("cursor")), decided: try head.integer("decided"))
    var (rows, nonces): ([OwnRow], Swift.Set<Int64>) = ([], [])
    while let line = try lines.next() {
      if let row = try OwnRow(line) {
        rows.append(row)
        continue
      }
      guard let operation = line.operation, ["end", "void"].contains(operation) else {
        // Never skipped: the rest of the set would be something else.
        throw SyncFailure("the server does not know the operation “\((line.operation ?? "").prefix(40))”")
      }
      let isVoid = operation == "void"
      let set = Set(
        number: try line.integer("number"), nonce: try line.number("nonce"),
        origin: String(storedValue: try line.value("origin")), rows: isVoid ? nil : rows)
      guard sets.last.map({ $0.number < set.number }) ?? true, nonces.insert(set.nonce).inserted,
        !isVoid || rows.isEmpty
      else { throw SyncFailure("a number or a nonce is not in order") }
      sets.append(set)
      rows = []
    }
    guard lines.isAtEnd, rows.isEmpty, (1...Self.setLimit).contains(sets.count), producer > 0 else {
      throw SyncFailure("expected 1 to \(Self.setLimit) whole sets")
    }
  }
}

/// What a server has decided about sets that were sent: the answer of `/sync/push`.
struct PushAnswer {
  var results: [(nonce: Int64, decision: Decision)] = []
  /// The number that the server knows from another set: the replica's file is a copy.
  var forked: Int64?
  /// The end of the log after all of them.
  let cursor: Cursor

  init(_ results: [(nonce: Int64, decision: Decision)], forked: Int64?, cursor: Cursor) {
    (self.results, self.forked, self.cursor) = (results, forked, cursor)
  }

  var bytes: [UInt8] {
    var lines = SyncAnswer.Lines()
    for (nonce, decision) in results {
      lines.append([
        ("op", .text("result")), ("nonce", .text("\(nonce)")), ("result", .text(decision.result)),
        ("detail", decision.detail.map { .text($0) } ?? .null),
      ])
    }
    lines.append([
      ("op", .text("end")), ("cursor", .text(cursor.description)), ("forked", forked.map { .integer($0) } ?? .null),
    ])
    return lines.bytes
  }

  init(_ bytes: [UInt8]) throws {
    var lines = Lines(bytes)
    var results: [(nonce: Int64, decision: Decision)] = []
    while let line = try lines.next() {
      switch line.operation {
      case "result":
        let detail = String(storedValue: try line.value("detail"))
        results.append((try line.number("nonce"), Decision(try line.text("result"), detail: detail)))
      case "end":
        let forked = try line.value("forked").isNull ? nil : try line.integer("forked")
        self.init(results, forked: forked, cursor: try Cursor(line.text("cursor")))
        return
      default: continue
      }
    }
    throw SyncFailure("the answer was cut off")
  }
}
