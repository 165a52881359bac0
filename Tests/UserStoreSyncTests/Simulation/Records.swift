import TestSupport
import UserStore

/// The records of a file, read with SQL alone: the judge shares no code with the library.
typealias Records = [Int64: TestSupport.Replica.User]

struct Event: Equatable {
  let revision: Int64
  let name: [UInt8]
  let user: Int64?
  /// The set of a replica that it was sent in.
  var set: Int64?
}

/// A value that a row of a log has written.
struct WrittenValue: Hashable {
  let user: Int64
  let attribute: [UInt8]
  let value: PlainValue
}

/// Why a history is wrong.
struct Wrong: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension PlainConnection {
  func integer(_ sql: String) throws -> Int64? {
    if case .integer(let number)? = try value(sql) { number } else { nil }
  }

  func text(_ sql: String) throws -> String? {
    try value(sql)?.utf8.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The end of the log.
  func end() throws -> Cursor {
    let epoch = try integer("SELECT epoch FROM meta") ?? 0
    let row = try run("SELECT seq, nonce FROM changes ORDER BY seq DESC LIMIT 1").first
    guard case .integer(let seq)? = row?[0], case .integer(let nonce)? = row?[1] else {
      return Cursor(epoch: epoch, revision: 0, nonce: 0)
    }
    return Cursor(epoch: epoch, revision: seq, nonce: nonce)
  }
}

extension Records {
  func filtered(_ isShown: (Int64) -> Bool) -> Records { filter { isShown($0.key) } }

  /// Applies a row of a log to the records.
  mutating func apply(op: Int64, user: Int64, attribute: [UInt8], old: PlainValue, new: PlainValue) {
    let field = LoggedChange.Field(attribute)
    switch (op, field) {
    // Blanked by a purge.
    case (1, .name) where new == .null: break
    case (1, .name): self[user] = TestSupport.Replica.User(name: new)
    case (2, _) where old == .null && new == .null: break
    case (1, _), (2, _): self[user]?[field] = new
    case (3, .name): self[user] = nil
    default: break
    }
  }
}
