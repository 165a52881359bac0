import Testing
import UserStoreText

@testable import UserStore

/// Records as JSON, without loss.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct RecordTextTests {
  private typealias Values = [AttributeName: StoredValue]

  private func read(_ json: String) throws -> (id: User.ID?, values: Values) {
    let (id, values) = try RecordText.record(json.utf8)
    return (id, Dictionary(uniqueKeysWithValues: values.map { ($0.attribute, $0.value) }))
  }

  private func mistake(_ json: String) throws -> TextError {
    try #require(throws: TextError.self) { _ = try RecordText.record(json.utf8) }
  }

  /// Values of all kinds.
  private static let values: [StoredValue] =
    JSONSample.all.map(\.value) + [
      .integer(.min), .integer(.max), .real(-0.0), .real(.infinity), .real(.leastNonzeroMagnitude), .real(1e300),
      .text(""), .text("{\"base64\":\"AP8=\"}"), .text("\u{0}\u{1B}[31m\u{202E}\n\\\"é e\u{301}"), .text(":=7"),
      .blob([]), .blob([0, 255]), .invalidText([0x41, 0xFF, 0x27]), .invalidText([0xC3]),
    ]

  // MARK: Writing

  @Test func `a user is written with all its values, and read as the same`() throws {
    var values = Values(uniqueKeysWithValues: Self.values.enumerated().map { (AttributeName("k\($0)"), $1) })
    values = values.filter { !$0.value.isNull }
    for name in ["hair-color", "caf\u{E9}", "cafe\u{301}", "\"\\", "invalid", "a b", "\u{202E}"] {
      values[AttributeName(name)] = .text(name)
    }
    values[.name] = .invalidText([0x5A, 0xFF])
    let user = User(id: User.ID(-7), storedValues: values)
    let read = try read(user.json)
    #expect(read.id == user.id)
    values[.hairColor] = .null
    #expect(read.values == values)
    // As text: 0.0 equals -0.0.
    for (name, value) in values { #expect("\(read.values[name] ?? .null)" == "\(value)") }
  }

  @Test func `the name and the hair color are first, then the attributes in the order of their bytes`() {
    let user = User(
      id: User.ID(3),
      storedValues: [.name: .text("Zoë"), "age": .integer(41), "B": .real(1), "é": .invalidText([0xFF])])
    #expect(
      user.json == #"{"id":3,"name":"Zoë","hair_color":null,"B":1.0,"age":41,"é":{"text_base64":"/w=="}}"#)
  }

  @Test(arguments: values) func `a value is read as the same`(value: StoredValue) throws {
    let read = try read("{\"k\":" + value.json + "}").values["k"]
    #expect(read.map { "\($0)" } == "\(value)")
  }

  @Test func `a text is a string in which nothing acts on a terminal`() {
    #expect(RecordText.json("Zoë") == "\"Zoë\"")
    #expect(RecordText.json("\"\\\u{1B}[31m\n\u{202E}") == #""\"\\\u001b[31m\n\u202e""#)
  }

  // MARK: Reading

  @Test func `white space, escapes and words are read as JSON defines them`() throws {
    let json =
      " {\n\t\"a\" : 1 ,\r\n \"b\":true,\"c\":false,\"d\":null,\"e\":\"\\u00e9\\ud83d\\ude00\\/\",\"f\":1.0 }\n\n"
    let values: Values = [
      "a": .integer(1), "b": .integer(1), "c": .integer(0), "d": .null, "e": .text("é😀/"), "f": .real(1),
    ]
    #expect(try read(json).values == values)
    #expect(try read("{}").values.isEmpty)
  }

  @Test func `the bytes can be any collection`() throws {
    let bytes = Array(#"{"a":1}"#.utf8)
    let padded = [0x20] + bytes + [0x78]
    for values in [
      try RecordText.record(padded[1..<padded.count - 1]).values,
      try RecordText.record(Array(bytes.reversed()).reversed()).values,
    ] {
      #expect(values.map(\.attribute) == ["a"] && values.map(\.value) == [.integer(1)])
    }
  }

  @Test func `an id is returned apart`() throws {
    #expect(try read(#"{"id":-3,"name":"x"}"#).id == User.ID(-3))
    #expect(try read(#"{"id":-3,"name":"x"}"#).values == [.name: .text("x")])
    #expect(try read(#"{"id":null,"name":"x"}"#).id == nil)
    #expect(try read(#"{"name":"x"}"#).id == nil)
    for id in ["7.0", "\"7\"", "{\"base64\":\"AA==\"}"] {
      let error = try mistake("{\"id\":\(id)}")
      #expect(error.kind == .value && error.message.hasPrefix("an id must be a whole number, not "), "\(error)")
    }
  }

  @Test func `a color name becomes the color, and only as hair color`() throws {
    let values = try read(#"{"hair_color":"Auburn","hair-color":"Auburn"}"#).values
    #expect(values == [.hairColor: .text("#a52a2a"), "hair-color": .text("Auburn")])
    #expect(try read(#"{"hair_color":null}"#).values == [.hairColor: .null])
    let error = try mistake(#"{"hair_color":"aubrun"}"#)
    #expect(error.kind == .value && error.message == "\"aubrun\" is not a color (did you mean \"auburn\"?)")
    #expect(error.hint?.hasPrefix("a color is #rrggbb") == true)
  }

  @Test(arguments: [
    ("", "at byte 0: the text ends in the middle of a record"),
    ("[]", "at byte 0: a record must be an object: {\"name\": …}"),
    ("{", "at byte 1: the text ends in the middle of a record"), ("{\"a\":[1]}", "at byte 5: a value cannot be a list"),
    ("{\n\"a\":{\"b\":1}}", "at byte 6: a value can be an object only for data: {\"base64\": \"…\"}"),
    (
      "{\"a\":{\"base64\":\"AA==\",\"base64\":\"AA==\"}}",
      "at byte 5: a value can be an object only for data: {\"base64\": \"…\"}"
    ),
    ("{\"a\":{\"base64\":\"A\"}}", "at byte 15: this is not base64"), ("{\"a\":01}", "at byte 5: 01 is not a number"),
    ("{\"a\":99999999999999999999}", "at byte 5: 99999999999999999999 does not fit into 64 bits"),
    (
      "{\"a\":-1.8e308}",
      "at byte 5: -1.8e308 is too large for a real number; 1e999 and -1e999 are infinite"
    ),
    ("{\"a\":1,}", "at byte 7: expected the name of a member, in quotes"), ("{\"a\" 1}", "at byte 5: expected a colon"),
    ("{\"é\":tru}", "at byte 6: expected a value"), ("{\"a\":1}x", "at byte 7: unexpected text after the record"),
    ("{\"a\":\"\n\"}", "at byte 6: a control character in a string must be escaped"),
    ("{\"a\":\"\\ud800\"}", "at byte 6: unpaired surrogate"),
    ("\u{FEFF}{}", "at byte 0: a record must be an object: {\"name\": …}"),
    ("{\"a\":1 \"b\":2}", "at byte 7: expected a comma or }"), ("{\"a\":NaN}", "at byte 5: expected a value"),
  ])
  func `what is not such an object is a mistake at its byte`(json: String, message: String) throws {
    let error = try mistake(json)
    #expect(error.kind == .notation && error.message == message && error.description == message)
    #expect(error.parameter == nil && error.text == nil && error.range == nil)
  }

  @Test func `text that only starts with the notation of data is not data`() {
    #expect(JSONScanner.data(in: #"{"base64":"AP8="}"#)?.value == .blob([0, 255]))
    for text in [#"{"base64":"AP8="} x"#, #"{"base64":"AP8="}{}"#, #"{"base64":"AP8="}}"#, "{}", "x"] {
      #expect(JSONScanner.data(in: text) == nil, "\(text)")
    }
  }

  @Test func `bytes that are not UTF-8 are a mistake`() throws {
    let error = try #require(throws: TextError.self) {
      try RecordText.record([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
    }
    #expect(error.message == "at byte 1: this is not valid UTF-8")
  }

  @Test func `a name that is given twice is a mistake, and names are compared by their bytes`() throws {
    for json in [#"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"id":1,"id":1}"#] {
      let error = try mistake(json)
      #expect(error.kind == .value && error.message.hasSuffix("\" is given twice"), "\(error)")
    }
    #expect(try read("{\"caf\u{E9}\":1,\"cafe\u{301}\":2}").values.count == 2)
  }

  @Test func `hostile text costs little and has a short message`() throws {
    let many = String(repeating: "[", count: 1_000_000)
    #expect(try mistake("{\"a\":" + many).message == "at byte 5: a value cannot be a list")
    let nested = String(repeating: "{\"base64\":", count: 300_000)
    #expect(try mistake("{\"a\":" + nested).message.hasPrefix("at byte 5: a value can be an object only for data"))
    let long = String(repeating: "x", count: 100_000)
    for json in [
      "{\"id\":\"\(long)\"}", "{\"hair_color\":\"\(long)\"}", "{\"\(long)\":1,\"\(long)\":1}",
      "{\"a\":\(String(repeating: "9", count: 100_000))}",
    ] {
      #expect(try mistake(json).message.utf8.count < 400)
    }
  }

  // MARK: Objects of records

  private func records(_ json: String) throws -> [String: [(attribute: AttributeName, value: StoredValue)]] {
    try RecordText.records(json.utf8, named: ["set", "expect"])
  }

  @Test func `values to compare with stored ones stay as they are`() throws {
    let json = #"{"set":{"hair_color":"auburn"},"expect":{"hair_color":"AUBURN"}}"#
    let read = try RecordText.records(json.utf8, named: ["set", "expect"], asStored: ["expect"])
    #expect(read["set"]?.first?.value == .text("#a52a2a"))
    #expect(read["expect"]?.first?.value == .text("AUBURN"))
  }

  @Test func `the members of an object can be records`() throws {
    let read = try records(
      " {\"set\":{\"hair_color\":\"auburn\",\"age\":41},\n\"expect\" : {\"hair_color\":\"RED\",\"age\":null}}\n")
    #expect(read.keys.sorted() == ["expect", "set"])
    #expect(read["set"]?.map(\.attribute) == [.hairColor, "age"])
    #expect(read["set"]?.map(\.value) == [.text("#a52a2a"), .integer(41)])
    #expect(read["expect"]?.map(\.value) == [.text("#ff0000"), .null])
    #expect(try records("{}").isEmpty)
    #expect(try records("{\"set\":{}}")["set"]?.isEmpty == true)
  }

  @Test(arguments: [
    ("[]", "at byte 0: expected an object: {\"set\": {…}}"),
    ("{\"set\":{},\"sett\":{}}", "at byte 10: \"sett\" is none of the members \"set\", \"expect\""),
    ("{\"set\":{},\"set\":{}}", "at byte 10: \"set\" is given twice"),
    ("{\"set\":[]}", "at byte 7: a record must be an object: {\"name\": …}"),
    ("{\"set\":{\"a\":{\"b\":1}}}", "at byte 12: a value can be an object only for data: {\"base64\": \"…\"}"),
    ("{\"set\":{}} {}", "at byte 11: unexpected text after the record"),
    ("{\"set\":{}", "at byte 9: the text ends in the middle of a record"),
  ])
  func `an object that is not made of these records is a mistake at its byte`(json: String, message: String) throws {
    let error = try #require(throws: TextError.self) { _ = try records(json) }
    #expect(error.kind == .notation && error.message == message)
  }

  @Test(arguments: [
    ("{\"set\":{\"id\":1}}", "in \"set\": an id cannot be given here"),
    ("{\"expect\":{\"id\":null}}", "in \"expect\": an id cannot be given here"),
    ("{\"set\":{},\"expect\":{\"a\":1,\"a\":2}}", "in \"expect\": \"a\" is given twice"),
    ("{\"set\":{\"hair_color\":\"aubrun\"}}", "in \"set\": \"aubrun\" is not a color (did you mean \"auburn\"?)"),
  ])
  func `a value that is not one is a mistake of its record`(json: String, message: String) throws {
    let error = try #require(throws: TextError.self) { _ = try records(json) }
    #expect(error.kind == .value && error.message == message)
  }
}
