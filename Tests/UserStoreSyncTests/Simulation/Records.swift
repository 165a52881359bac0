import TestSupport
import UserStore

@testable import UserStoreSync

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

extension PlainSQL {
  @discardableResult func run(_ sql: String) throws -> [[PlainValue]] { try run(sql, []) }

  func integer(_ sql: String) throws -> Int64? {
    if case .integer(let number)? = try run(sql).first?.first { number } else { nil }
  }

  func text(_ sql: String) throws -> String? {
    try run(sql).first?.first?.utf8.map { String(decoding: $0, as: UTF8.self) }
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

  /// Applies a set that a replica has sent, and that is accepted.
  mutating func apply(_ set: Push.Set) throws {
    guard let rows = set.rows else { throw Wrong("the set \(set.nonce) is accepted, and values of it were purged") }
    func field(_ attribute: AttributeName) -> LoggedChange.Field { LoggedChange.Field(Array(attribute.text.utf8)) }
    for row in rows {
      switch row {
      case .add(let user, let name): self[user] = TestSupport.Replica.User(name: PlainValue(name))
      case .set(let user, let attribute, let value): self[user]?[field(attribute)] = PlainValue(value)
      case .remove(let user): self[user] = nil
      case .post: break
      case .expect(let user, let attribute, let value):
        guard self[user]?[field(attribute)] == PlainValue(value) else {
          throw Wrong("the set \(set.nonce) is accepted, and \(attribute) of user \(user) was not \(value)")
        }
      }
    }
  }
}

extension PlainValue {
  init(_ value: StoredValue) {
    self =
      switch value {
      case .null: .null
      case .integer(let integer): .integer(integer)
      case .real(let real): .real(real)
      case .text(let text): .text(Array(text.utf8))
      case .blob(let bytes): .blob(bytes)
      case .invalidText(let bytes): .text(bytes)
      }
  }
}
