import Foundation
import Testing

@testable import UserStore

/// Encoding and decoding with Foundation.
@Suite(.bounded, .serialized) struct CodableTests {
  private struct Element<Value: Codable>: Codable {
    let value: Value
  }

  /// Encodes a value inside of an object, and decodes it.
  private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Element<Value>.self, from: JSONEncoder().encode(Element(value: value))).value
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  /// The message and the path of the error of decoding an object with a member `value`.
  private func failure<Value: Codable>(_ type: Value.Type, _ json: String) -> DecodingError.Context? {
    let error = #expect(throws: DecodingError.self) { try decode(Element<Value>.self, "{\"value\":\(json)}") }
    switch error {
    case .dataCorrupted(let context), .typeMismatch(_, let context), .keyNotFound(_, let context),
      .valueNotFound(_, let context):
      return context
    default: return nil
    }
  }

  // MARK: Values

  @Test(arguments: JSONSample.all)
  func `a value is encoded and decoded`(_ sample: JSONSample) throws {
    guard let decoded = sample.decoded else {
      #expect(throws: EncodingError.self) { try JSONEncoder().encode(sample.value) }
      #expect(failure(StoredValue.self, sample.json)?.codingPath.map(\.stringValue) == ["value"])
      return
    }
    #expect(try roundTrip(sample.value) == decoded)
  }

  @Test(arguments: JSONSample.all)
  func `a printed value is decoded as it would be after encoding`(_ sample: JSONSample) throws {
    guard let decoded = sample.decoded else { return }
    #expect(try decode(StoredValue.self, sample.json) == decoded)
  }

  @Test(arguments: [
    ("true", StoredValue.integer(1)), ("false", .integer(0)),
    (#"{"text_base64":"Yf9i"}"#, .invalidText([0x61, 0xFF, 0x62])),
    (#"{"text_base64":"YQ=="}"#, .text("a")), ("1e3", .integer(1_000)), ("1.5e0", .real(1.5)),
  ])
  func `other forms of values are decoded`(_ json: String, _ value: StoredValue) throws {
    #expect(try decode(StoredValue.self, json) == value)
  }

  @Test(arguments: [
    ("[]", "a value is null", ["value"]), ("[1]", "a value is null", ["value"]), ("{}", "a value is null", ["value"]),
    (#"{"x":1}"#, "a value is null", ["value"]), (#"{"base64":"","x":1}"#, "a value is null", ["value"]),
    (#"{"base64":"*"}"#, "not base64", ["value", "base64"]), (#"{"base64":1}"#, "String", ["value", "base64"]),
    ("9223372036854775808", "9223372036854775808 does not fit into 64 bits", ["value"]),
    ("-9223372036854775809", "-9223372036854775809 does not fit into 64 bits", ["value"]),
    ("18446744073709551615", "18446744073709551615 does not fit into 64 bits", ["value"]),
    ("1e400", "out of range", ["value"]), ("-1e400", "out of range", ["value"]),
  ])
  func `anything else is an error with a path`(_ json: String, _ message: String, _ path: [String]) {
    let failure = failure(StoredValue.self, json)
    #expect(failure?.debugDescription.contains(message) == true, "\(failure?.debugDescription ?? "-")")
    #expect(failure?.codingPath.map(\.stringValue) == path)
  }

  // MARK: Users

  @Test func `a user is encoded with the members of its text, and decoded from them`() throws {
    let user = User(
      id: User.ID(-7),
      storedValues: [
        "name": .text("Zoë"), "b\"": .real(1.5), "B": .blob([0]), "invalid": .integer(1), "n": .integer(.max),
      ])
    let text = try JSONSerialization.jsonObject(with: Data(user.json.utf8)) as? NSDictionary
    let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(user)) as? NSDictionary
    #expect(text != nil && text == encoded)
    #expect(try roundTrip(user) == user)
    #expect(try decode(User.self, user.json) == user)
  }

  @Test func `text that is not valid UTF-8 is decoded from its bytes`() throws {
    let user = User(id: User.ID(1), storedValues: ["name": .invalidText([0xFF])])
    #expect(try roundTrip(user) == user)
    #expect(try decode(User.self, user.json) == user)
  }

  @Test(arguments: [
    (#"{"name":"x"}"#, ["value"]), (#"{"id":1}"#, ["value", "name"]), (#"{"id":1,"name":null}"#, ["value", "name"]),
    (#"{"id":"1","name":"x"}"#, ["value", "id"]), (#"{"id":9223372036854775808,"name":"x"}"#, ["value", "id"]),
    (#"{"id":1,"name":"x","age":[1]}"#, ["value", "age"]), ("[]", ["value"]), ("null", ["value"]),
  ])
  func `a user needs an id, a name, and values`(_ json: String, _ path: [String]) {
    let failure = failure(User.self, json)
    #expect(failure?.codingPath.map(\.stringValue) == path, "\(failure?.debugDescription ?? "-")")
  }

  // MARK: Changes

  @Test(arguments: [Change.Kind.added, .updated, .removed, .unknown])
  func `a change is encoded with the members of its text, and decoded from them without its row`(
    _ kind: Change.Kind
  ) throws {
    let change = Change(
      kind: kind, user: User.ID(2), attribute: "a\"b", old: .null, new: .blob([1]), timestamp: -1, sequence: 9)
    let text = try JSONSerialization.jsonObject(with: Data(change.json.utf8)) as? NSDictionary
    let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(change)) as? NSDictionary
    #expect(text != nil && text == encoded)
    let decoded = Change(
      kind: kind, user: User.ID(2), attribute: "a\"b", old: .null, new: .blob([1]), timestamp: -1, sequence: 0)
    #expect(try roundTrip(change) == decoded)
    #expect(try decode(Change.self, change.json) == decoded)
  }

  @Test func `the members of a change set in a line of watch are ignored`() throws {
    let line = #"""
      {"revision":3,"cursor":"v1-1-3-1","op":"insert","user":1,"attribute":"hair_color","old":null,"new":null,"at":"1970-01-01T00:00:00.007Z","listener":null}
      """#
    let change = try decode(Change.self, line)
    #expect(change.kind == .added && change.attribute == .hairColor && change.timestamp == 7)
  }

  @Test(arguments: [
    ("op", "\"snapshot\""), ("op", "1"), ("user", "null"), ("attribute", "1"), ("old", "[]"), ("new", "{}"),
    ("at", "\"yesterday\""), ("at", "0"),
  ])
  func `a change with a wrong member is refused`(_ name: String, _ value: String) {
    let members = [
      "op": "\"update\"", "user": "1", "attribute": "\"a\"", "old": "1", "new": "2",
      "at": "\"1970-01-01T00:00:00.000Z\"",
    ]
    func json(_ members: [String: String]) -> String {
      "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }
    #expect(throws: Never.self) { try decode(Change.self, json(members)) }
    let failure = failure(Change.self, json(members.merging([name: value]) { $1 }))
    #expect(failure?.codingPath.map(\.stringValue) == ["value", name], "\(failure?.debugDescription ?? "-")")
    #expect(throws: DecodingError.self) { try decode(Change.self, json(members.filter { $0.key != name })) }
  }

  // MARK: Numbers and text

  @Test func `ids and revisions are numbers`() throws {
    #expect(try JSONEncoder().encode([User.ID(.min), User.ID(.max)]) == Data("[\(Int64.min),\(Int64.max)]".utf8))
    #expect(try JSONEncoder().encode(Revision(rawValue: 1 << 48)) == Data("281474976710656".utf8))
    #expect(try roundTrip(User.ID(.min)) == User.ID(.min))
    #expect(try roundTrip(Revision(rawValue: 1 << 53 + 1)) == Revision(rawValue: 1 << 53 + 1))
    for json in ["9223372036854775808", "1.5", "\"1\"", "null"] {
      #expect(failure(User.ID.self, json)?.codingPath.map(\.stringValue) == ["value"], "\(json)")
      #expect(failure(Revision.self, json)?.codingPath.map(\.stringValue) == ["value"], "\(json)")
    }
    #expect(failure(User.ID.self, "9223372036854775808")?.debugDescription == "expected a 64-bit integer")
  }

  @Test func `a cursor is its text, and other text is an error with the store's as its cause`() throws {
    let cursor = Cursor(epoch: -5, revision: 17, nonce: .max)
    #expect(try JSONEncoder().encode(cursor) == Data("\"\(cursor)\"".utf8))
    #expect(try roundTrip(cursor) == cursor)
    for json in ["\"\"", "\"v2-1-1-1\"", "\"v1-01-1-1\""] {
      let failure = failure(Cursor.self, json)
      #expect(failure?.codingPath.map(\.stringValue) == ["value"])
      #expect((failure?.underlyingError as? StoreError)?.code == .badCursor)
      #expect(failure?.debugDescription == (failure?.underlyingError as? StoreError)?.message)
    }
    #expect(failure(Cursor.self, "17")?.underlyingError == nil)
  }

  @Test func `a color is its text, and is decoded from what a color can be created from`() throws {
    let color = Color(red: 0, green: 1, blue: 255)
    #expect(try JSONEncoder().encode(color) == Data("\"#0001ff\"".utf8))
    #expect(try roundTrip(color) == color)
    #expect(try decode(Color.self, "\"Auburn\"") == Color("auburn"))
    #expect(failure(Color.self, "\"zebra\"")?.debugDescription == "“zebra” is not a color; use #rrggbb")
  }

  @Test func `the name of an attribute is text, and a key of a dictionary`() throws {
    #expect(try JSONEncoder().encode(AttributeName.hairColor) == Data("\"hair_color\"".utf8))
    let values: [AttributeName: StoredValue] = ["a\"b": .integer(1), "1": .null]
    #expect(
      try JSONEncoder().encode(["a\"b": StoredValue.integer(1)] as [AttributeName: StoredValue])
        == Data(#"{"a\"b":1}"#.utf8))
    #expect(try roundTrip(values) == values)
    let composed = try decode(AttributeName.self, "\"\u{E9}\"")
    #expect(composed == "\u{E9}" && composed != "e\u{301}")
  }
}
