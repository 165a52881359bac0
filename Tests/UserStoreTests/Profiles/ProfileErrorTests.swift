import Foundation
import TestSupport
import Testing

@testable import UserStore

/// The errors of profiles, by their texts.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ProfileErrorTests {
  private let store: UserStore

  init() throws { store = try UserStore.forTests() }

  /// The message for a user whose attribute another program has written.
  private func message<Value: UserStore.Profile>(
    _ type: Value.Type, _ attribute: AttributeName, _ value: StoredValue
  ) throws -> String? {
    let id = User.ID(7)
    try store.write { users in
      if try users.user(id) != nil { try users.remove(id) }
      try users.add([("name", .text("Zoë")), (attribute, value)], as: id)
    }
    let error = #expect(throws: StoreError.self) { try store.profile(type, of: id) }
    #expect(error?.code == .undecodable)
    return error?.message
  }

  @Test func `the texts name the attribute, the user, the value, and the type`() throws {
    let texts: [(AttributeName, StoredValue, String)] = [
      ("role", .text("boss"), #"the role of user 7 is "boss", not a Role"#),
      ("role", .text(""), #"the role of user 7 is "", not a Role"#),
      ("role", .integer(1), "the role of user 7 is 1, not a Role"),
      ("role", .blob([1, 2]), "the role of user 7 is 2 bytes, not a Role"),
      ("logins", .text("many"), #"the logins of user 7 is "many", not an Int"#),
      ("logins", .real(1.5), "the logins of user 7 is 1.5, not an Int"),
      ("logins", .real(2), "the logins of user 7 is 2.0, not an Int"),
      ("address", .text("Main Street"), #"the address of user 7 is "Main Street", not an Address"#),
      ("address", .text("[]"), #"the address of user 7 is "[]", not an Address"#),
      ("address", .integer(5), "the address of user 7 is 5, not an Address"),
      ("address", .text(#"{"street":"x"}"#), #"the address of user 7 has no "zip""#),
      ("address", .text(#"{"street":"x","zip":null}"#), #"the address of user 7 has no "zip""#),
      (
        "address", .text(#"{"street":"x","zip":53111}"#),
        #"the address of user 7 is not an Address: "zip" is 53111, not a String"#
      ),
      (
        "address", .text(#"{"street":"x","zip":"1","floor":"ground"}"#),
        #"the address of user 7 is not an Address: "floor" is "ground", not an Int"#
      ),
      ("e-mail", .integer(3), "the e-mail of user 7 is 3, not a String"),
    ]
    for (attribute, value, text) in texts { #expect(try message(Account.self, attribute, value) == text) }
  }

  /// A profile with nested lists.
  private struct Order: UserStore.Profile {
    struct Line: Codable {
      var item: Address
      var role: Role?
    }
    var lines: [Line]
    var total: Int?
    var seen: Date?
  }

  @Test func `the texts of nested values have a path`() throws {
    let texts: [(AttributeName, StoredValue, String)] = [
      ("total", .integer(1), "user 7 has no lines"),
      ("lines", .text(#"[{"item":{"street":"x"}}]"#), #"the lines of user 7 has no "0.item.zip""#),
      (
        "lines", .text(#"[{"item":{"street":"x","zip":"1"},"role":"boss"}]"#),
        #"the lines of user 7 is not an Array<Line>: "0.role" is "boss", not a Role"#
      ),
      ("lines", .text("[1]"), #"the lines of user 7 is not an Array<Line>: "0" is 1, not a Line"#),
    ]
    for (attribute, value, text) in texts { #expect(try message(Order.self, attribute, value) == text) }
  }

  @Test func `a long value is cut, and what acts on a terminal is replaced`() throws {
    let text = String(repeating: "x", count: 200)
    let message = try #require(try message(Account.self, "role", .text("\u{1B}[31m" + text)))
    #expect(message.hasPrefix("the role of user 7 is \"\u{FFFD}[31mxxx") && message.count < 130)
  }

  @Test(.sqlite) func `text that is not valid UTF-8 is an error`() throws {
    let folder = try Folder()
    let store = try folder.open()
    let id = try store.write { try $0.add(Account(name: "Zoë")) }
    try folder.shell("INSERT INTO attributes VALUES (\(id), 'role', CAST(x'ff' AS TEXT))")
    let error = #expect(throws: StoreError.self) { try store.profile(Account.self, of: id) }
    #expect(error?.message == "the role of user 1 is text that is not valid UTF-8, not a Role")
  }

  /// A type with rules of its own.
  private struct Age: Codable {
    struct TooOld: Error {}
    let years: Int

    init(from decoder: any Decoder) throws {
      years = try decoder.singleValueContainer().decode(Int.self)
      if years > 150 { throw TooOld() }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(years)
    }
  }

  private struct Aged: UserStore.Profile {
    var age: Age

    init(from decoder: any Decoder) throws {
      age = try decoder.container(keyedBy: CodingKeys.self).decode(Age.self, forKey: .age)
      if age.years == 13 { throw Age.TooOld() }
    }

    private enum CodingKeys: String, CodingKey { case age }
  }

  @Test func `the error of a type is the cause`() throws {
    #expect(try message(Aged.self, "age", .integer(200)) == "the age of user 7 is 200, not an Age")
    let error = #expect(throws: StoreError.self) { try store.profile(Aged.self, of: User.ID(7)) }
    #expect(error?.cause is Age.TooOld)
    #expect(try message(Aged.self, "age", .integer(13)) == "user 7 is not an Aged: TooOld()")
  }

  // MARK: Values that cannot be stored

  private struct Refused<Value: Codable & Sendable>: UserStore.Profile {
    var name = "Zoë"
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private func refusal(_ value: some Codable & Sendable) -> String? {
    let error = #expect(throws: StoreError.self) { try store.write { try $0.add(Refused(value)) } }
    #expect(error?.code == .badValue)
    return error?.description
  }

  @Test func `values that cannot be stored are refused`() throws {
    let decimal =
      "is of Foundation's type Decimal, which is not an attribute value (store it as text, or as a number of cents)"
    #expect(refusal(Decimal(1)) == "the value " + decimal)
    #expect(refusal([Decimal(1)]) == "\"0\" in the value " + decimal)
    #expect(refusal(UInt64.max) == "the value is 18446744073709551615, which does not fit into 64 bits")
    #expect(refusal(["a": Double.nan]) == "\"a\" in the value is NaN, which cannot be stored")
    #expect(refusal(Double.nan) == "the value is NaN, which cannot be stored")
    #expect(try store.count() == 0)
    let id = try store.write { try $0.add(name: "Zoë") }
    try store.write { try $0.set("value", of: id, to: .real(1)) }
    #expect(code { try store.profile(Refused<Decimal>.self, of: id) } == .badValue)
  }

  private struct List: UserStore.Profile {
    var values: [Int]
    init() { values = [] }
    init(from decoder: any Decoder) throws { values = try decoder.singleValueContainer().decode([Int].self) }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
  }

  @Test func `a type without members is not a profile`() throws {
    let error = #expect(throws: StoreError.self) { try store.write { try $0.add(List()) } }
    #expect(error?.message == "List is not a profile: it encodes no members with names")
    let id = try store.write { try $0.add(name: "Zoë") }
    #expect(code { try store.profile(List.self, of: id) } == .undecodable)
  }
}
