package import UserStore

/// The place where a page of a list ended, as text: the id, or, in a sorted list, the sort keys' values and the id in JSON.
///
/// Whatever the values are, a shell reads it unchanged in single quotes, and no terminal acts on it.
package struct PageToken: Sendable {
  package let text: String

  /// A longer token would not fit into a command line.
  private static let limit = 100_000

  /// Creates the token for the last user of a page; nil if the values are too long.
  package init?(after position: Query.Position, sortedBy order: [SortKey]) {
    let id = (name: "id", value: JSON.integer(position.id.rawValue))
    if order.isEmpty, position.id.rawValue >= 0 {
      text = String(position.id.rawValue)
    } else {
      let members = zip(order, position.values).map { (name: $0.argument, value: $1.jsonValue) }
      text = Self.escaped(JSON.object(members + [id]).description)
    }
    if text.utf8.count > Self.limit { return nil }
  }

  /// Escapes quotes, backslashes, and unsafe characters: fish changes two backslashes even in single quotes.
  private static func escaped(_ json: String) -> String {
    var escaped = ""
    var isAfterBackslash = false
    for scalar in json.unicodeScalars {
      if isAfterBackslash {
        isAfterBackslash = false
        escaped += scalar == "\\" || scalar == "\"" ? unicode(scalar) : "\\\(scalar)"
      } else if scalar == "\\" {
        isAfterBackslash = true
      } else {
        escaped += scalar == "'" || String(scalar).shown != String(scalar) ? unicode(scalar) : String(scalar)
      }
    }
    return escaped
  }

  private static func unicode(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  // MARK: Reading

  /// Reads a token; throws if it is not valid, or belongs to a list in another order.
  package static func position(
    _ text: String, sortedBy order: [SortKey], _ notation: QueryNotation
  ) throws(TextError) -> Query.Position {
    var members: [(name: String, value: StoredValue)] = []
    if let id = Int64(text) {
      members = [("id", .integer(id))]
    } else {
      var scanner = JSONScanner(Array(text.utf8)[...])
      do throws(JSONScanner.Mistake) { members = try scanner.record().map { ($0.name, $0.value) } } catch {
        throw wrong(text, notation)
      }
    }
    guard let last = members.popLast(), last.name == "id", case .integer(let id) = last.value else {
      throw wrong(text, notation)
    }
    guard members.map(\.name).elementsEqual(order.map(\.argument), by: { $0.hasSameBytes(as: $1) }) else {
      throw otherOrder(text, members.map(\.name), notation)
    }
    return Query.Position(values: members.map(\.value), id: User.ID(id))
  }

  private static func wrong(_ text: String, _ notation: QueryNotation) -> TextError {
    let isQuoted =
      switch notation {
      case .options: "in single quotes, exactly as list printed it"
      case .parameters: "exactly as the page before has it"
      }
    return TextError(
      .value, "this is not the end of a page: \(text.excerpt)", in: .place, text, hint: "pass it " + isQuoted)
  }

  private static func otherOrder(_ text: String, _ keys: [String], _ notation: QueryNotation) -> TextError {
    let arguments = keys.map { notation.argument(.order, $0) }.joined(separator: " ")
    return TextError(
      .notation, "this is the end of a page in another order", in: .place, text,
      hint: keys.isEmpty ? "leave out \(notation.name(.order))" : "pass \(arguments) too")
  }
}
