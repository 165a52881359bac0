import Foundation
import TestSupport
import Testing
import UserStoreFoundation

@testable import UserStore

/// How values of every type are stored, and what else is read as them.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ProfileCodingTests {
  private let store: UserStore

  init() throws { store = try UserStore.forTests() }

  @Test func `every kind of value has its form`() throws {
    let id = try store.write { try $0.add(Everything(hairColor: UserStore.Color("red"))) }
    let forms: [AttributeName: StoredValue] = [
      "name": .text("Zoë"), "hair_color": .text("#ff0000"), "count": .integer(1), "ratio": .real(0.5),
      "is_active": .integer(1), "small": .integer(-3), "large": .integer(4), "single": .real(0.25),
      "role": .text("admin"), "bytes": .blob([0, 255]), "tags": .text(#"["b","a"]"#),
      "groups": .text(#"["x","y","z"]"#), "limits": .text(#"{"a":2,"b":1}"#),
      "addresses": .text(#"[{"floor":2,"street":"Main Street","zip":"53111"}]"#), "friend": .integer(3),
      "seen": .text("1970-01-12T13:46:40.500Z"), "data": .blob([1, 2]),
      "token": .text("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), "page": .text("https://example.com/zoe"),
      "birthday": .text("2001-05-17"), "raw": .blob([7]),
    ]
    #expect(try store.user(id)?.storedValues == forms)
    #expect(try store.profile(Everything.self, of: id) == Everything(hairColor: UserStore.Color("red")))
  }

  /// One attribute of a type.
  private struct One<Value: Codable & Sendable>: UserStore.Profile {
    var value: Value
  }

  private func read<Value: Codable & Sendable>(_ type: Value.Type, from stored: StoredValue) throws -> Value {
    let id = try store.write { try $0.add([("name", .text("Zoë")), ("value", stored)]) }
    return try #require(try store.profile(One<Value>.self, of: id)).value
  }

  private func form(of value: some Codable & Sendable) throws -> StoredValue {
    try #require(try One(value: value).encodedAttributes()["value"])
  }

  /// A type that stores the path at which it is encoded.
  private struct Place: Codable {
    init() {}
    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      let paths = [encoder.codingPath, container.codingPath].map { $0.map(\.stringValue).joined(separator: ".") }
      try container.encode(paths.joined(separator: " "))
    }
  }

  @Test func `a type that encodes itself knows its place`() throws {
    #expect(try form(of: Place()) == .text("value value"))
    #expect(
      try form(of: ["a": [Place(), Place()]]) == .text(#"{"a":["value.a.0 value.a.0","value.a.1 value.a.1"]}"#))
  }

  @Test func `what other programs store in another format is read`() throws {
    #expect(try read(Double.self, from: .integer(3)) == 3)
    #expect(try read(Float.self, from: .integer(3)) == 3)
    #expect(try read(Date.self, from: .text("2026-11-21T05:20:11Z")) == Date(timeIntervalSince1970: 1_795_238_411))
    #expect(try read([Int].self, from: .text(" [ 1 , 2.0,\n3e0 ] ")) == [1, 2, 3])
    #expect(try read([Bool].self, from: .text("[true,false,0,1]")) == [true, false, false, true])
    #expect(
      try read([Double].self, from: .text("[18446744073709551616, 1e999]")) == [18_446_744_073_709_551_616, .infinity])
    #expect(try read([String: String?].self, from: .text(#"{"a":"\u00e9","b":null,"a":"x"}"#)) == ["a": "x", "b": nil])
    #expect(try read([Int: String].self, from: .text(#"{"1":"a"}"#)) == [1: "a"])
    #expect(try read([Data].self, from: .text(#"[{"base64":"AP8="}]"#)) == [Data([0, 255])])
    #expect(try read([[UInt8]].self, from: .text("[[0,255]]")) == [[0, 255]])
    #expect(try read(StoredValue.self, from: .real(1)) == .real(1))
    #expect(try read([StoredValue].self, from: .text(#"[null,"a",1]"#)) == [.null, .text("a"), .integer(1)])
  }

  @Test func `types of Foundation have their form in nested values too`() throws {
    struct Visit: Codable, Equatable {
      var at = Date(timeIntervalSince1970: 0)
      var data = Data([0, 255])
      var color = UserStore.Color("red")
      var isShort = true
    }
    let text = ##"{"at":"1970-01-01T00:00:00.000Z","color":"#ff0000","data":{"base64":"AP8="},"isShort":true}"##
    #expect(try form(of: Visit()) == .text(text))
    #expect(try read(Visit.self, from: .text(text)) == Visit())
    #expect(
      code { try read(Visit.self, from: .text(text.replacing("\"1970-01-01T00:00:00.000Z\"", with: "0"))) }
        == .undecodable)
  }

  @Test func `names that are equal as Swift strings are two attributes, and two members`() throws {
    #expect(try form(of: ["e\u{301}": 1]) == .text("{\"e\u{301}\":1}"))
    let text = "{\"e\u{301}\":1,\"\u{E9}\":2}"
    struct Two: Codable {
      var a: Int
      var b: Int
      enum CodingKeys: String, CodingKey { case a = "x", b = "y" }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        a = try container.decode(Int.self, forKey: TextKey("e\u{301}"))
        b = try container.decode(Int.self, forKey: TextKey("\u{E9}"))
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(b, forKey: TextKey("\u{E9}"))
        try container.encode(a, forKey: TextKey("e\u{301}"))
      }
    }
    let two = try read(Two.self, from: .text(text))
    #expect(two.a == 1 && two.b == 2)
    #expect(try form(of: two) == .text(text))
  }

  @Test func `an infinite number is stored as JSON text has it`() throws {
    #expect(try form(of: [Double.infinity, -.infinity]) == .text("[1e999,-1e999]"))
    #expect(try read([Double].self, from: .text("[1e999,-1e999]")) == [.infinity, -.infinity])
  }

  @Test func `an enumeration with values is stored as a struct`() throws {
    enum Plan: Codable, Equatable {
      case free
      case paid(cents: Int)
    }
    #expect(try form(of: Plan.paid(cents: 5)) == .text(#"{"paid":{"cents":5}}"#))
    #expect(try read(Plan.self, from: .text(#"{"paid":{"cents":5}}"#)) == .paid(cents: 5))
    #expect(try read(Plan.self, from: .text(#"{"free":{}}"#)) == .free)
  }

  /// A class hierarchy, and containers made by hand.
  private class Base: Codable {
    var id = 1
    init() {}
  }

  private final class Derived: Base {
    var extra = 2
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      var list = try decoder.container(keyedBy: TextKey.self).nestedUnkeyedContainer(forKey: TextKey("list"))
      extra = try list.decode(Int.self)
      #expect(try list.decodeNil() && !list.decodeNil())
      var inner = try list.nestedUnkeyedContainer()
      #expect(inner.isAtEnd && inner.count == 0)
      #expect(throws: DecodingError.self) { try inner.decode(Int.self) }
      let object = try list.nestedContainer(keyedBy: TextKey.self)
      #expect(object.allKeys.map(\.stringValue) == ["a"])
      #expect(list.isAtEnd)
      try super.init(from: decoder.container(keyedBy: TextKey.self).superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: TextKey.self)
      var list = container.nestedUnkeyedContainer(forKey: TextKey("list"))
      try list.encode(extra)
      try list.encodeNil()
      _ = list.nestedUnkeyedContainer()
      var object = list.nestedContainer(keyedBy: TextKey.self)
      try object.encodeNil(forKey: TextKey("a"))
      #expect(list.count == 4)
      try super.encode(to: container.superEncoder())
    }
  }

  @Test func `containers within containers work`() throws {
    let text = #"{"list":[2,null,[],{"a":null}],"super":{"id":1}}"#
    let stored = try StoredValue(encoding: Derived())
    #expect(stored == .text(text))
    let derived = try stored.decodeMembers(of: Derived.self)
    #expect(derived.extra == 2 && derived.id == 1)
  }

  // MARK: Nesting

  private indirect enum Tree: Codable {
    case leaf
    case node([Tree])

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      var parts: [Tree] = []
      while !container.isAtEnd { parts.append(try container.decode(Tree.self)) }
      self = .node(parts)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      if case .node(let parts) = self { for part in parts { try container.encode(part) } }
    }

    static func nested(_ depth: Int) -> Tree { depth == 1 ? .leaf : .node([nested(depth - 1)]) }
  }

  private func brackets(_ count: Int) -> String {
    String(repeating: "[", count: count) + String(repeating: "]", count: count)
  }

  @Test func `a hundred levels are stored and read, and one more is refused`() throws {
    #expect(try form(of: Tree.nested(100)) == .text(brackets(100)))
    _ = try read(Tree.self, from: .text(brackets(100)))
    let error = #expect(throws: StoreError.self) { try form(of: Tree.nested(101)) }
    #expect(error?.code == .badValue && error?.message.hasSuffix("in the value is nested more than 100 times") == true)
    #expect(code { try read(Tree.self, from: .text(brackets(101))) } == .undecodable)
  }

  @Test func `hostile nesting does not overflow the stack`() throws {
    for text in [brackets(1_000_000), String(repeating: #"{"a":"#, count: 1_000_000)] {
      #expect(JSONScanner.value(in: text) == nil)
      #expect(code { try read(Tree.self, from: .text(text)) } == .undecodable)
    }
  }

  @Test func `text that is not JSON is no list`() throws {
    let texts = [
      "", "[", "]", "[1", "[1,", "[1,]", "[1 2]", "[01]", "[+1]", "[1]x", "{", #"{"a"}"#, #"{"a":1,}"#, "[nul]",
      "[\u{0B}]", "[-]",
      #"["\x"]"#, #"["\ud800"]"#, "[\"\n\"]", "NaN", "[NaN]",
    ]
    for text in texts { #expect(JSONScanner.value(in: text) == nil, "\(text)") }
    for text in ["null", "1", " [ ] ", "{}", #""a""#] { #expect(JSONScanner.value(in: text) != nil, "\(text)") }
  }

  // MARK: Attributes of their own

  private struct Point: JSONAttributeValue, Equatable {
    var y: Double
    var x: Double
  }

  @Test func `a struct as an attribute has the form that it has in a profile`() throws {
    let point = Attribute<Point>("value")
    let id = try store.write { users in
      let id = try users.add(name: "Zoë")
      try users.set(point, of: id, to: Point(y: 1, x: 2))
      return id
    }
    #expect(try store.user(id)?.storedValues["value"] == .text(#"{"x":2.0,"y":1.0}"#))
    #expect(try store.user(id)?[point] == Point(y: 1, x: 2))
    #expect(try store.profile(One<Point>.self, of: id)?.value == Point(y: 1, x: 2))
    #expect(try form(of: Point(y: 1, x: 2)) == .text(#"{"x":2.0,"y":1.0}"#))
    #expect(try form(of: [Point(y: 1, x: 2)]) == .text(#"[{"x":2.0,"y":1.0}]"#))
    #expect(try read([Point].self, from: .text(#"[{"y":1, "x":2}]"#)) == [Point(y: 1, x: 2)])
    #expect(code { try store.write { try $0.set(point, of: id, to: Point(y: .nan, x: 2)) } } == .badValue)
    #expect(Point(storedValue: .text("{}")) == nil)
  }
}
