public import UserStore

/// Records and values as JSON, without loss.
///
/// A record is an object of plain values, as `User.json` writes it. Bytes are `{"base64":"AP8="}`. Text that is not valid UTF-8,
/// which a foreign writer may store, is `{"text_base64":"/w=="}`. A number with a fraction or an exponent is real, any other
/// number is an integer, and true and false are 1 and 0. `1e999` and `-1e999` are infinite; any other number beyond the range of
/// `Double` is refused. An attribute that is null is not set.
public enum RecordText {
  /// Reads a record: an object of plain values, strictly as in RFC 8259.
  ///
  /// Names of attributes are exact: `hair-color` is not `hair_color`. A color name in `hair_color` is converted to the color. The
  /// store checks all other values when it writes them.
  ///
  /// - Parameter json: The bytes of the text, in UTF-8.
  /// - Returns: The `id`, nil if it is null or missing; and the values of the other members, in their order.
  /// - Throws: `TextError`, with the kind `.notation` for text that is not such an object (the message contains the offset in
  ///   bytes: `at byte 12: …`), and `.value` for an unknown color, an id that is not an integer, and an attribute that occurs
  ///   twice.
  public static func record(
    _ json: some Collection<UInt8>
  ) throws(TextError) -> (id: UserStore.User.ID?, values: [(attribute: AttributeName, value: StoredValue)]) {
    let members = try scan(json) { scanner throws(JSONScanner.Mistake) in try scanner.record() }
    let content = try content(of: members)
    return (content.id, content.values)
  }

  /// Reads the members of an object of plain values, of any names, each at most once.
  ///
  /// - Throws: `TextError`, as `record(_:)`.
  public static func members(_ json: some Collection<UInt8>) throws(TextError) -> [(name: String, value: StoredValue)] {
    let members = try scan(json) { scanner throws(JSONScanner.Mistake) in try scanner.record() }
    var names: Set<String> = []
    for (name, _, _) in members where !names.insert(name).inserted {
      throw TextError(.value, "\"\(name.excerpt)\" is given twice")
    }
    return members.map { ($0.name, $0.value) }
  }

  /// Reads an object of records: `{"set":{"age":41},"expect":{"age":40}}`.
  ///
  /// The members are read as `record(_:)` reads a record, but cannot have an `id`.
  ///
  /// - Parameters:
  ///   - json: The bytes of the text, in UTF-8.
  ///   - names: The names that members may have. None of them is required.
  ///   - stored: The names of those members whose values are compared with stored ones; their colors stay text, because other
  ///     programs can store any text.
  /// - Returns: The values of the members that the object has, by their names.
  /// - Throws: `TextError`, with the same kinds as `record(_:)`; `.notation` for a member whose name is unknown or occurs twice.
  public static func records(
    _ json: some Collection<UInt8>, named names: [String], asStored stored: [String] = []
  ) throws(TextError) -> [String: [(attribute: AttributeName, value: StoredValue)]] {
    let records = try scan(json) { scanner throws(JSONScanner.Mistake) in try scanner.records(named: names) }
    var values: [String: [(attribute: AttributeName, value: StoredValue)]] = [:]
    for (name, members) in records {
      let content = try content(of: members, named: name, keepingColors: stored.contains(name))
      if content.hasID { throw TextError(.value, "in \"\(name)\": an id cannot be given here") }
      values[name] = content.values
    }
    return values
  }

  /// Returns a text as a JSON string, in quotes.
  public static func json(_ text: String) -> String { JSON.text(text).description }

  private static func scan<Value>(
    _ json: some Collection<UInt8>, _ body: (inout JSONScanner) throws(JSONScanner.Mistake) -> Value
  ) throws(TextError) -> Value {
    var scanner = JSONScanner(Array(json)[...], in: .text)
    do throws(JSONScanner.Mistake) { return try body(&scanner) } catch {
      throw TextError(.notation, "at byte \(error.offset): \(error.reason)")
    }
  }

  /// Checks an object's members, whose names are exact; a message contains only the start of a long value.
  private static func content(
    of members: JSONScanner.Members, named name: String? = nil, keepingColors: Bool = false
  ) throws(TextError) -> RecordContent {
    let fields = members.map { RecordContent.Field(AttributeName($0.name), $0.value) }
    do throws(TextError) { return try RecordContent(fields, keepingColors: keepingColors) } catch {
      let place = name.map { "in \"\($0)\": " } ?? ""
      throw TextError(error.kind, place + error.message.limited(to: 300), hint: error.hint)
    }
  }
}
