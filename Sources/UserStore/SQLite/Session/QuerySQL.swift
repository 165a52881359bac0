/// The SQL of a query: text that contains the names of attributes as literals, and the values of its parameters.
///
/// Names are literals because SQLite uses a partial index only for those. All values are parameters.
struct QuerySQL {
  /// The text in pieces, which are joined once: it is made for each look-up, and takes longer than SQLite needs to find the user.
  private var pieces: [String] = []
  private(set) var values: [StoredValue] = []
  /// The attributes that all users of the result have, each joined under the name `aN`, so that SQLite can start with an index.
  private let joins: [AttributeName]
  /// The indexed attributes, of which there are few: searching them is faster than hashing.
  private let indexes: Set<AttributeIndex>

  /// The conditions by which the users that are read are selected before the others are tested; nil for all users.
  private let selected: [Condition.Node]?

  /// SQLite joins at most 64 tables, and tries many orders of them; further attributes are looked up for each row.
  private static let joinLimit = 20

  /// The SQL of each join up to the attribute's name, and the columns with the user's identifier and the value.
  private static let joinTexts = texts { "JOIN attributes AS a\($0) ON a\($0).user_id = users.id AND a\($0).name = " }
  private static let idTexts = texts { "a\($0).user_id" }
  private static let valueTexts = texts { "a\($0).value" }

  private static func texts(_ text: (Int) -> String) -> [String] { (0..<joinLimit).map(text) }

  /// The column with the identifier: the users' own, or that of the table whose index has the order of the part.
  ///
  /// SQLite does not know that both give the same order.
  private var id = "users.id"

  var text: String { String(joining: pieces) }

  /// Creates the SQL that selects the identifier and the columns of each row of a part; `indexes` are the indexed attributes.
  init(_ part: RowPart, columns: [AttributeName], limit: Int?, indexes: Set<AttributeIndex>) {
    self.init(joining: part, indexes)
    let leader =
      if let first = part.order.first?.attribute {
        indexes.haveOrder(of: first) ? first : nil
      } else {
        part.conditions.lazy.compactMap { $0.equal(in: indexes) }.first
      }
    if let leader, let index = joins.firstIndex(of: leader) { id = Self.idTexts[index] }
    pieces.reserveCapacity(32)
    pieces.append("SELECT ")
    pieces.append(id)
    for attribute in columns {
      pieces.append(", ")
      pieces.append(column(attribute))
    }
    appendSource()
    pieces.append(condition(of: part))
    pieces.append(" ORDER BY ")
    for key in part.order {
      pieces.append(term(key))
      pieces.append(", ")
    }
    pieces.append(id)
    if let limit {
      pieces.append(" LIMIT ")
      pieces.append(parameter(.integer(Int64(limit))))
    }
  }

  init(counting condition: Condition, indexes: Set<AttributeIndex>) {
    let part = RowPart(conditions: [condition.node])
    self.init(joining: part, indexes)
    pieces.append("SELECT count(*)")
    appendSource()
    pieces.append(self.condition(of: part))
  }

  /// Creates the SQL that selects the identifiers of the users who meet a condition.
  private init(selecting condition: Condition.Node, _ indexes: Set<AttributeIndex>) {
    let part = RowPart(conditions: [condition])
    self.init(joining: part, indexes)
    pieces.append("SELECT users.id AS id")
    appendSource()
    pieces.append(self.condition(of: part))
  }

  private init(joining part: RowPart, _ indexes: Set<AttributeIndex>) {
    self.indexes = indexes
    selected = part.selected
    // The first sort key first, so that it is among those that are joined.
    let leader = part.order.first?.attribute
    var joins: [AttributeName] = []
    for condition in part.conditions {
      for attribute in condition.implied where attribute.column == .any && !joins.contains(attribute) {
        joins.append(attribute)
      }
    }
    joins.sort { left, right in
      left == leader || right == leader ? left == leader && right != leader : left < right
    }
    if joins.count > Self.joinLimit { joins.removeLast(joins.count - Self.joinLimit) }
    self.joins = joins
  }

  private mutating func appendSource() {
    var space = " "
    if let selected {
      // SQLite never reorders a cross join, and looks up each user of a part by the identifier then. Without the limit, the part would be
      // a join with the others.
      space = " CROSS "
      let selected = selected.map { QuerySQL(selecting: $0, indexes) }
      let parts = selected.map(\.text).joined(separator: " UNION ")
      pieces.append(" FROM (\(parts) LIMIT -1) AS selected CROSS JOIN users ON users.id = selected.id")
      values += selected.flatMap(\.values)
    } else {
      pieces.append(" FROM users")
    }
    for (index, attribute) in joins.enumerated() {
      pieces.append(space)
      pieces.append(Self.joinTexts[index])
      pieces.append(attribute.literal)
    }
    pieces.append(" WHERE ")
  }

  // MARK: Columns and order

  private func column(_ attribute: AttributeName) -> String {
    switch attribute {
    case .id: return id
    case .name: return "users.name"
    case .hairColor: return "users.hair_color"
    default:
      if let index = joins.firstIndex(of: attribute) { return Self.valueTexts[index] }
      return "(SELECT value FROM attributes WHERE user_id = users.id AND name = \(attribute.literal))"
    }
  }

  private func term(_ key: SortKey) -> String {
    // SQLite puts nulls first in ascending order, and last in descending order.
    let isReversed = key.putsMissingLast && !key.isDescending && !isPresent(key.attribute)
    return column(key.attribute) + (key.isDescending ? " DESC" : isReversed ? " NULLS LAST" : "")
  }

  /// Whether no row has a null in the column of an attribute.
  private func isPresent(_ attribute: AttributeName) -> Bool {
    attribute == .id || attribute == .name || joins.contains(attribute)
  }

  // MARK: Conditions

  private mutating func condition(of part: RowPart) -> String {
    if part.conditions.count == 1, part.bound == nil { return sql(part.conditions[0]) }
    var texts = part.conditions.map { sql($0) }
    if let (key, value) = part.bound { texts.append(test(of: key.attribute) { $0.isAfter($1, key, value) }) }
    return Self.junction(texts, "AND", empty: "1")
  }

  private mutating func sql(_ node: Condition.Node) -> String {
    switch node {
    case .all(let parts): return Self.junction(parts.map { sql($0) }, "AND", empty: "1")
    case .any(let parts): return Self.junction(parts.map { sql($0) }, "OR", empty: "0")
    case .not(let part): return "(\(sql(part))) IS NOT TRUE"
    case .first(let part): return selected == nil ? sql(part) : "1"
    case .comparison(let attribute, let comparison, let value):
      guard attribute.column.canHave(value) else { return "0" }
      let isCaseless = comparison == .equal && indexes.contains { $0.ignoresCase && $0.attribute == attribute }
      return test(of: attribute) { query, column in
        let test = query.test(column, of: attribute.column, comparison, value)
        return isCaseless ? "(\(test) AND \(column) = \(query.parameter(value)) COLLATE NOCASE)" : test
      }
    case .isOneOf(let attribute, let values):
      let values = values.filter { attribute.column.canHave($0) }
      if values.isEmpty { return "0" }
      return test(of: attribute) { "\($1) IN (\($0.parameters(values)))" }
    case .exists(let attribute):
      return isPresent(attribute) ? "1" : test(of: attribute) { "\($1) IS NOT NULL" }
    }
  }

  private static func junction(_ texts: [String], _ word: String, empty: String) -> String {
    let texts = texts.filter { $0 != empty }
    return texts.count > 1 ? "(\(texts.joined(separator: " \(word) ")))" : texts.first ?? empty
  }

  /// Returns the test that `make` returns for the column with an attribute's value.
  private mutating func test(
    of attribute: AttributeName, _ make: (inout QuerySQL, _ column: String) -> String
  ) -> String {
    if attribute.column != .any || joins.contains(attribute) { return make(&self, column(attribute)) }
    let test = make(&self, "value")
    return "EXISTS (SELECT 1 FROM attributes WHERE user_id = users.id AND name = \(attribute.literal) AND \(test))"
  }

  /// Returns a comparison that holds only within the value's class.
  private mutating func test(
    _ column: String, of kind: AttributeName.Column, _ comparison: Condition.Comparison, _ value: StoredValue
  ) -> String {
    if comparison == .equal { return column + " = " + parameter(value) }
    let ends = value.class.ends
    let lower = kind == .any ? ends.lower.map { " AND \(column) >= \($0)" } ?? "" : ""
    let upper = kind == .any ? ends.upper.map { " AND \(column) < \($0)" } ?? "" : ""
    switch comparison {
    case .equal: return "\(column) = \(parameter(value))"
    case .notEqual: return "(\(column) <> \(parameter(value))\(lower)\(upper))"
    case .less: return "(\(column) < \(parameter(value))\(lower))"
    case .lessOrEqual: return "(\(column) <= \(parameter(value))\(lower))"
    case .greater: return "(\(column) > \(parameter(value))\(upper))"
    case .greaterOrEqual: return "(\(column) >= \(parameter(value))\(upper))"
    case .startsWith:
      guard value.class == .text else { return "0" }
      guard let end = value.textBytes.prefixEnd else { return "(\(column) >= \(parameter(value))\(upper))" }
      // The end may not be valid UTF-8.
      return "(\(column) >= \(parameter(value)) AND \(column) < \(parameter(.invalidText(end))))"
    case .contains:
      guard value.class == .text else { return "0" }
      // As bytes: in text, `instr` finds nothing that starts within a character, as text that is not valid UTF-8 may.
      return "(typeof(\(column)) = 'text' AND instr(CAST(\(column) AS BLOB), \(parameter(.blob(value.textBytes)))) > 0)"
    case .containsIgnoringCase:
      guard case .text(let part) = value else { return test(column, of: kind, .contains, value) }
      let text = CaselessText(part)
      let bytes = parameter(.blob(Array(text.lowercase.utf8)))
      return "(typeof(\(column)) = 'text' AND instr(CAST(\(Self.lowercase(column, text)) AS BLOB), \(bytes)) > 0)"
    }
  }

  /// The text of a column in which the letters of another text are in lower case; `lower` does that for those of ASCII.
  private static func lowercase(_ column: String, _ text: CaselessText) -> String {
    let letters = text.letters
    let ascii = letters.contains { $0.lower.isASCII } ? "lower(\(column))" : column
    let others = letters.filter { !$0.lower.isASCII }
    if others.isEmpty { return ascii }
    // Calls within calls would fill the parser's stack.
    let steps = others.enumerated().map { index, letter in
      "t\(index + 1)(x) AS (SELECT replace(x, '\(letter.upper)', '\(letter.lower)') FROM t\(index))"
    }
    return "(WITH t0(x) AS (SELECT \(ascii)), \(steps.joined(separator: ", ")) SELECT x FROM t\(others.count))"
  }

  /// Returns the test that a value, of any class, is after another in the order of a key.
  private mutating func isAfter(_ column: String, _ key: SortKey, _ value: StoredValue) -> String {
    let kind = key.attribute.column
    // SQLite would convert the value to the type of the column.
    guard kind.canHave(value) else { return (value.class < kind.class) != key.isDescending ? "1" : "0" }
    return "\(column) \(key.isDescending ? "<" : ">") \(parameter(value))"
  }

  private mutating func parameter(_ value: StoredValue) -> String {
    values.append(value)
    return "?"
  }

  private mutating func parameters(_ values: [StoredValue]) -> String {
    values.map { parameter($0) }.joined(separator: ", ")
  }
}

extension Condition.Node {
  /// An indexed attribute that has the same value in all users who meet the condition.
  fileprivate func equal(in indexes: Set<AttributeIndex>) -> AttributeName? {
    switch self {
    case .all(let parts): parts.lazy.compactMap { $0.equal(in: indexes) }.first
    case .comparison(let attribute, .equal, _) where indexes.haveOrder(of: attribute): attribute
    case .isOneOf(let attribute, let values) where values.count == 1 && indexes.haveOrder(of: attribute): attribute
    default: nil
    }
  }
}

extension Set<AttributeIndex> {
  /// Whether one has the order of an attribute; one that ignores case has another order.
  fileprivate func haveOrder(of attribute: AttributeName) -> Bool {
    contains { !$0.ignoresCase && $0.attribute == attribute }
  }
}

extension AttributeName {
  var literal: String { text.quoted("'") }
}

extension AttributeName.Column {
  /// The class of all values, if it is only one.
  fileprivate var `class`: StoredValue.Class { self == .id ? .number : .text }

  /// Whether a value of the column can be equal to this one.
  func canHave(_ value: StoredValue) -> Bool {
    self == .any ? value.class != .missing : value.class == self.class
  }
}

extension String {
  /// The text as a literal or a name in SQL; `Limits` excludes NUL, which would end the SQL.
  ///
  /// Scalar by scalar: a quote and an accent after it are one character in Swift.
  func quoted(_ quote: Unicode.Scalar) -> String {
    // Mostly there is none, and the query is made again for each look-up.
    if !utf8.contains(UInt8(ascii: quote)) {
      let quote = String(quote)
      return quote + self + quote
    }
    var quoted = String.UnicodeScalarView([quote])
    for scalar in unicodeScalars { quoted.append(contentsOf: scalar == quote ? [scalar, scalar] : [scalar]) }
    quoted.append(quote)
    return String(quoted)
  }
}

extension StoredValue.Class {
  /// SQLite sorts numbers before text, and text before blobs: the first value of the class, and the first after it, in SQL.
  fileprivate var ends: (lower: String?, upper: String?) {
    switch self {
    case .missing: (nil, nil)
    case .number: (nil, "''")
    case .text: ("''", "x''")
    case .data: ("x''", nil)
    }
  }
}

extension [UInt8] {
  /// The first bytes in order after all that start with these; nil if there are none.
  fileprivate var prefixEnd: [UInt8]? {
    guard let last = lastIndex(where: { $0 < 0xFF }) else { return nil }
    return self[..<last] + [self[last] + 1]
  }
}
