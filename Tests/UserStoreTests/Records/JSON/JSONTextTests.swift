import Foundation
import TestSupport
import Testing

@testable import UserStore

/// The text of values, users and changes, which usertool prints.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct JSONTextTests {
  @Test(arguments: JSONSample.all)
  func `a value has one text`(_ sample: JSONSample) {
    // Compares bytes: Swift's == treats two spellings of é as equal.
    #expect(Array(sample.value.json.utf8) == Array(sample.json.utf8))
  }

  @Test func `Python reads each value as it is`() throws {
    let reader = """
      import base64, json, struct, sys
      for line in sys.argv[1:]:
        value = json.loads(bytes.fromhex(line))
        if value is None: print('null')
        elif type(value) is int: print('integer', value)
        elif type(value) is float: print('real', struct.pack('>d', value).hex())
        elif type(value) is str: print('text', value.encode().hex())
        else:
          [[name, text]] = value.items()
          print(name, base64.b64decode(text, validate=True).hex())
      """
    let texts = JSONSample.all.map { Self.hex($0.value.json.utf8) }
    let lines = try Program.run(Child.python, ["-c", reader] + texts).split(separator: "\n").map(String.init)
    #expect(lines == JSONSample.all.map { Self.read($0.value) })
  }

  @Test func `real numbers read back as themselves`() {
    for _ in 0..<1_000 {
      let real = Double(bitPattern: .random(in: .min ... .max))
      if !real.isNaN { #expect(Double(StoredValue.real(real).json) == real) }
    }
  }

  @Test func `a user has its id, the name, the hair color, and the other attributes by the bytes of their names`() {
    let user = User(
      id: User.ID(-7),
      storedValues: [
        "name": .text("Zoë"), "b\"": .real(1), "caf\u{E9}": .integer(1), "cafe\u{301}": .integer(2), "B": .blob([0]),
      ])
    let further = "\"B\":{\"base64\":\"AA==\"},\"b\\\"\":1.0,\"cafe\u{301}\":2,\"caf\u{E9}\":1"
    #expect(Array(user.json.utf8) == Array("{\"id\":-7,\"name\":\"Zoë\",\"hair_color\":null,\(further)}".utf8))
  }

  @Test func `text that is not valid UTF-8 is written as its bytes`() {
    let user = User(id: User.ID(1), storedValues: ["name": .invalidText([0xFF]), "z": .integer(1)])
    #expect(user.json == #"{"id":1,"name":{"text_base64":"/w=="},"hair_color":null,"z":1}"#)
  }

  @Test(arguments: [(Change.Kind.added, "insert"), (.updated, "update"), (.removed, "delete"), (.unknown, "unknown")])
  func `a change has its members in order`(_ kind: Change.Kind, _ operation: String) {
    let change = Change(
      kind: kind, user: User.ID(2), attribute: "a\"b", old: .real(2), new: .blob([1]), timestamp: 1_795_238_411_482,
      sequence: 9)
    let start = #"{"op":"\#(operation)","user":2,"attribute":"a\"b","old":2.0,"#
    #expect(change.json == start + #""new":{"base64":"AQ=="},"at":"2026-11-21T05:20:11.482Z"}"#)
  }

  @Test func `a number has digits on each side of its point, none before the first but 0, and some in its exponent`() {
    for text in ["0", "-0", "7", "10", "-12", "0.5", "-0.50", "1e5", "1E+5", "12.25e-3"] {
      #expect(JSON.isNumber(text), "\(text)")
      #expect(JSON.isInteger(text) == (Int(text) != nil), "\(text)")
    }
    let others = [
      "", "-", "--1", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1e", "1e+", "1e-", "1.5e", "1.e5", "1 ", " 1", "1x",
      "0x1",
      "1e5.5", "1.5.5", "1-", "１",
    ]
    for text in others { #expect(!JSON.isNumber(text) && !JSON.isInteger(text), "\(text)") }
  }

  @Test func `a purged change is marked`() {
    let marked = [(StoredValue.null, StoredValue.invalidText([0xFF])), (.null, .null), (.null, .integer(1))].map {
      old, new in
      Change(kind: .updated, user: User.ID(2), attribute: "a", old: old, new: new, timestamp: 0, sequence: 9).json
    }
    let start = #"{"op":"update","user":2,"attribute":"a","old":null,"new":"#
    let at = #","at":"1970-01-01T00:00:00.000Z""#
    #expect(marked[0] == start + #"{"text_base64":"/w=="}"# + at + "}")
    #expect(marked[1] == start + "null" + at + #","purged":true}"#)
    #expect(marked[2] == start + "1" + at + "}")
  }

  private static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
  }

  /// What Python prints for a value.
  private static func read(_ value: StoredValue) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer): "integer \(integer)"
    case .real(let real): "real " + hex((0..<8).map { UInt8(truncatingIfNeeded: real.bitPattern >> (56 - 8 * $0)) })
    case .text(let text): ("text " + hex(text.utf8))
    case .blob(let bytes): "base64 " + hex(bytes)
    case .invalidText(let bytes): "text_base64 " + hex(bytes)
    }
  }
}
