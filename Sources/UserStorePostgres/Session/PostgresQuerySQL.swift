import UserStore

/// The SQL of a query: text, and the values of its parameters.
///
/// A value is in one of five columns, so each comparison names the columns of its class. Integers and real numbers are compared
/// exactly: not every integer is a `float8`, so the value is rounded here, in the direction of the comparison.
struct PostgresQuerySQL {
  private var text = ""
  private(set) var values: [PostgresValue] = []
  private var types: [PostgresType] = []
  /// The sort keys that are not built-in attributes; each is joined as `sN`.
  private var joins: [AttributeName] = []
  /// Whether each test of an attribute is a subquery.
  ///
  /// Otherwise PostgreSQL turns the tests into joins, to start with the one that finds the fewest users. Planning hundreds of
  /// joins takes minutes.
  private var isSeparate: Bool
  /// Whether the users that are read are selected before the conditions.
  private var hasSelected: Bool
  /// The unique attributes, whose indexes find equal values.
  private let uniqueKeys: [AttributeName: PostgresUniqueKey]

  private static let joinLimit = 8

  /// Creates the SQL that selects id, name and hair color of each row of a part.
  init(_ part: RowPart, limit: Int?, uniqueKeys: [AttributeName: PostgresUniqueKey] = [:]) {
    self.init(of: part, uniqueKeys)
    var source = source(of: part)
    for key in part.order where key.attribute.column == .any {
      let name = "s\(joins.count)"
      joins.append(key.attribute)
      let condition = "\(name).user_id = u.id AND \(name).name = \(parameter(.text(key.attribute.text)))"
      source += " LEFT JOIN "
      source +=
        hasSelected
        ? "LATERAL (SELECT * FROM userstore.attributes \(name) WHERE \(condition) OFFSET 0) \(name) ON true"
        : "userstore.attributes \(name) ON \(condition)"
    }
    let condition = condition(of: part)
    let order = (part.order.flatMap { terms($0) } + ["u.id"]).joined(separator: ", ")
    text = "SELECT u.id, u.name, u.hair_color FROM \(source) WHERE \(condition) ORDER BY \(order)"
    if let limit { text += " LIMIT \(parameter(.int8(Int64(limit))))" }
  }

  init(counting condition: Condition, uniqueKeys: [AttributeName: PostgresUniqueKey] = [:]) {
    let part = RowPart(conditions: [condition.node])
    self.init(of: part, uniqueKeys)
    let source = source(of: part)
    text = "SELECT count(*) FROM \(source) WHERE \(self.condition(of: part))"
  }

  private init(of part: RowPart, _ uniqueKeys: [AttributeName: PostgresUniqueKey]) {
    self.uniqueKeys = uniqueKeys
    hasSelected = part.selected != nil
    isSeparate = hasSelected || part.conditions.reduce(0) { $0 + $1.tests } > Self.joinLimit
  }

  /// The users, of which the others are selected before anything else is tested: PostgreSQL cannot move a test into a query with an
  /// offset.
  private mutating func source(of part: RowPart) -> String {
    guard let selected = part.selected else { return "userstore.users u" }
    (hasSelected, isSeparate) = (false, false)
    let parts = selected.map { "SELECT u.id FROM userstore.users u WHERE \(sql($0))" }
    (hasSelected, isSeparate) = (true, true)
    return
      "(SELECT u.* FROM (\(parts.joined(separator: " UNION "))) selected JOIN userstore.users u ON u.id = selected.id OFFSET 0) u"
  }

  func statement(to purpose: String) -> PostgresStatement { PostgresStatement(once: purpose, text, types: types) }

  private mutating func parameter(_ value: PostgresValue) -> String {
    values.append(value)
    types.append(value.type ?? .text)
    return "$\(values.count)"
  }

  // MARK: Order

  private func terms(_ key: SortKey) -> [String] {
    let direction = key.isDescending ? " DESC NULLS LAST" : ""
    switch key.attribute {
    case .id: return ["u.id" + direction]
    case .name: return ["u.name" + direction]
    case .hairColor:
      return ["u.hair_color" + (key.isDescending ? direction : key.putsMissingLast ? " NULLS LAST" : " NULLS FIRST")]
    default: break
    }
    let name = joins.firstIndex(of: key.attribute).map { "s\($0)" } ?? "s"
    let missing = key.putsMissingLast && !key.isDescending ? 4 : 0
    let rank = """
      CASE WHEN \(name).user_id IS NULL THEN \(missing) WHEN \(name).integer IS NOT NULL OR \(name).real IS NOT NULL THEN 1 \
      WHEN \(name).text IS NOT NULL OR \(name).raw IS NOT NULL THEN 2 ELSE 3 END
      """
    // Integers that round to the same real number are ordered by their own value; no integer is as large as 2^63.
    let exact = """
      CASE WHEN \(name).integer IS NOT NULL THEN \(name).integer \
      WHEN \(name).real >= -9223372036854775808 AND \(name).real < 9223372036854775808 THEN \(name).real::int8 END
      """
    let suffix = key.isDescending ? " DESC" : ""
    return [
      rank + suffix, "coalesce(\(name).real, \(name).integer::float8)" + suffix, exact + suffix,
      Self.bytes(of: name) + suffix, "\(name).bytes" + suffix,
    ]
  }

  private static func bytes(of name: String) -> String { "coalesce(\(name).raw, convert_to(\(name).text, 'UTF8'))" }

  // MARK: Conditions

  private mutating func condition(of part: RowPart) -> String {
    var texts = part.conditions.map { sql($0) }
    if let (key, value) = part.bound { texts.append(isAfter(value, key)) }
    return Self.junction(texts, "AND", empty: "true")
  }

  private mutating func sql(_ node: Condition.Node) -> String {
    switch node {
    case .all(let parts): return Self.junction(parts.map { sql($0) }, "AND", empty: "true")
    case .any(let parts): return Self.junction(parts.map { sql($0) }, "OR", empty: "false")
    case .not(let part): return "(\(sql(part))) IS NOT TRUE"
    case .first(let part): return hasSelected ? "true" : sql(part)
    case .comparison(let attribute, let comparison, let value):
      let key = comparison == .equal ? uniqueKeys[attribute] : nil
      return test(attribute) { query, name in
        let test = query.test(name, attribute.column, comparison, value)
        guard let key, test != "false" else { return test }
        return "((\(test)) AND \(query.equality(name, key.index, value)))"
      }
    case .isOneOf(let attribute, let values):
      return test(attribute) { query, name in
        Self.junction(values.map { query.test(name, attribute.column, .equal, $0) }, "OR", empty: "false")
      }
    case .exists(let attribute):
      switch attribute {
      case .id, .name: return "true"
      case .hairColor: return "u.hair_color IS NOT NULL"
      default: return test(attribute) { _, _ in "true" }
      }
    }
  }

  private static func junction(_ texts: [String], _ word: String, empty: String) -> String {
    let texts = texts.filter { $0 != empty }
    return texts.count > 1 ? "(\(texts.joined(separator: " \(word) ")))" : texts.first ?? empty
  }

  /// Returns a test of the row of `attributes` with a name, or of a column of `users`.
  private mutating func test(
    _ attribute: AttributeName, _ make: (inout PostgresQuerySQL, _ name: String) -> String
  ) -> String {
    switch attribute {
    case .id: return make(&self, "u.id")
    case .name: return make(&self, "u.name")
    case .hairColor: return make(&self, "u.hair_color")
    default:
      let name = parameter(.text(attribute.text))
      let test = make(&self, "a")
      if test == "false" { return test }
      return
        "EXISTS (SELECT FROM userstore.attributes a WHERE a.user_id = u.id AND a.name = \(name) AND \(test)\(isSeparate ? " OFFSET 0" : ""))"
    }
  }

  /// Returns the test that finds the users with a value by the index of a unique attribute.
  private mutating func equality(_ name: String, _ index: AttributeIndex, _ value: StoredValue) -> String {
    if index.attribute.column == .text {
      guard case .text(let text) = value, !text.utf8.contains(0) else { return "true" }
      return "\(PostgresUniqueKey.text(name, index)) = \(PostgresUniqueKey.text(parameter(.text(text)), index))"
    }
    let names = ["integer", "real", "text", "bytes", "raw"]
    var columns: [String: String] = [:]
    for ((column, value), type) in zip(zip(names, value.columns), ["int8", "float8", "text", "bytea", "bytea"]) {
      columns[column] = value == .null ? "NULL::\(type)" : parameter(value)
    }
    let key = PostgresUniqueKey.value({ "\(name).\($0)" }, index)
    let literal = PostgresUniqueKey.literal(index.attribute.text)
    return "\(name).name = \(literal) AND \(key) = \(PostgresUniqueKey.value({ columns[$0] ?? "NULL" }, index))"
  }

  /// Returns a comparison that is true only within the value's class; `name` is a table, or a column of `users`.
  private mutating func test(
    _ name: String, _ column: AttributeName.Column, _ comparison: Condition.Comparison, _ value: StoredValue
  ) -> String {
    switch (column, value.class) {
    case (_, .missing), (.id, .text), (.id, .data), (.text, .number), (.text, .data): return "false"
    case (.id, .number): return number(comparison, value, integer: name, real: nil)
    case (.any, .number): return number(comparison, value, integer: "\(name).integer", real: "\(name).real")
    case (.text, .text): return text(comparison, value, text: name, raw: nil)
    case (.any, .text): return text(comparison, value, text: "\(name).text", raw: "\(name).raw")
    case (.any, .data):
      guard case .blob(let bytes) = value, let sign = comparison.sign else { return "false" }
      return "\(name).bytes \(sign) \(parameter(.bytea(bytes)))"
    }
  }

  private mutating func number(
    _ comparison: Condition.Comparison, _ value: StoredValue, integer: String, real: String?
  ) -> String {
    guard comparison.sign != nil else { return "false" }
    var tests: [String] = []
    for (column, isReal) in [(integer, false), (real, true)] {
      guard let column else { continue }
      switch Rounded(comparison, value, toReal: isReal) {
      case .never: break
      case .always: tests.append("\(column) IS NOT NULL")
      case .test(let comparison, let value):
        tests.append("\(column) \(comparison.sign ?? "=") \(parameter(value))")
      }
    }
    return Self.junction(tests, "OR", empty: "false")
  }

  private mutating func text(
    _ comparison: Condition.Comparison, _ value: StoredValue, text: String, raw: String?
  ) -> String {
    let bytes = value.textBytes
    var valid: String?
    if case .text(let text) = value, !bytes.contains(0) { valid = text }
    var tests: [String] = []
    let asBytes = "convert_to(\(text), 'UTF8')"
    switch comparison {
    case .startsWith:
      if let valid {
        tests.append("starts_with(\(text), \(parameter(.text(valid))))")
      } else {
        tests.append("substring(\(asBytes) from 1 for \(bytes.count)) = \(parameter(.bytea(bytes)))")
      }
      if let raw { tests.append("substring(\(raw) from 1 for \(bytes.count)) = \(parameter(.bytea(bytes)))") }
    case .contains:
      if let valid {
        tests.append("strpos(\(text), \(parameter(.text(valid)))) > 0")
      } else {
        tests.append("position(\(parameter(.bytea(bytes))) in \(asBytes)) > 0")
      }
      if let raw { tests.append("position(\(parameter(.bytea(bytes))) in \(raw)) > 0") }
    case .containsIgnoringCase:
      guard case .text(let part) = value else { return self.text(.contains, value, text: text, raw: raw) }
      let caseless = CaselessText(part)
      if valid != nil {
        tests.append("strpos(\(lowercase(text, caseless)), \(parameter(.text(caseless.lowercase)))) > 0")
      }
      if let raw { tests.append("encode(\(raw), 'hex') ~ \(parameter(.text(caseless.hexPattern)))") }
    default:
      let sign = comparison.sign ?? "="
      if let valid {
        tests.append("\(text) \(sign) \(parameter(.text(valid)))")
      } else {
        tests.append("\(asBytes) \(sign) \(parameter(.bytea(bytes)))")
      }
      if let raw { tests.append("\(raw) \(sign) \(parameter(.bytea(bytes)))") }
    }
    return Self.junction(tests, "OR", empty: "false")
  }

  /// SQL for a column's text, in which those letters are in lower case that `text` contains.
  private mutating func lowercase(_ column: String, _ text: CaselessText) -> String {
    let letters = text.letters
    if letters.isEmpty { return column }
    func list(_ letters: [Unicode.Scalar]) -> PostgresValue { .text(String(String.UnicodeScalarView(letters))) }
    return "translate(\(column), \(parameter(list(letters.map(\.upper)))), \(parameter(list(letters.map(\.lower)))))"
  }

  /// Returns a test for values after `value` in the order of a key; users without a value are in other parts.
  private mutating func isAfter(_ value: StoredValue, _ key: SortKey) -> String {
    let column = key.attribute.column
    guard column != .any else {
      return test(key.attribute) { query, name in
        var tests = [query.test(name, .any, key.isDescending ? .less : .greater, value)]
        for other in [StoredValue.Class.number, .text, .data] where other != value.class {
          if (other < value.class) == key.isDescending { tests.append(other.test(of: name)) }
        }
        return Self.junction(tests, "OR", empty: "false")
      }
    }
    let own: StoredValue.Class = column == .id ? .number : .text
    guard value.class == own else { return (value.class < own) != key.isDescending ? "true" : "false" }
    return test(key.attribute) { $0.test($1, column, key.isDescending ? .less : .greater, value) }
  }
}

private enum Rounded {
  case never, always
  case test(Condition.Comparison, PostgresValue)

  init(_ comparison: Condition.Comparison, _ value: StoredValue, toReal: Bool) {
    switch (value, toReal) {
    case (.integer(let integer), false): self = .test(comparison, .int8(integer))
    case (.real(let real), true): self = .test(comparison, .float8(real))
    case (.integer(let integer), true):
      let real = Double(integer)
      // 2^63 is not an Int64.
      let order = real >= 0x1p63 ? 1 : Int64(real) == integer ? 0 : Int64(real) > integer ? 1 : -1
      self = Self.rounded(comparison, .float8(real), order)
    case (.real(let real), false):
      if real >= 0x1p63 {
        self = Self.outside(comparison, isAbove: true)
      } else if real < -0x1p63 {
        self = Self.outside(comparison, isAbove: false)
      } else {
        let floor = real.rounded(.down)
        self = Self.rounded(comparison, .int8(Int64(floor)), floor == real ? 0 : -1)
      }
    default: self = .never
    }
  }

  /// `order` compares the rounded value with the exact one; the column has no value between them.
  private static func rounded(_ comparison: Condition.Comparison, _ value: PostgresValue, _ order: Int) -> Rounded {
    if order == 0 { return .test(comparison, value) }
    return switch comparison {
    case .equal: .never
    case .notEqual: .always
    case .less, .lessOrEqual: .test(order < 0 ? .lessOrEqual : .less, value)
    case .greater, .greaterOrEqual: .test(order < 0 ? .greater : .greaterOrEqual, value)
    default: .never
    }
  }

  private static func outside(_ comparison: Condition.Comparison, isAbove: Bool) -> Rounded {
    switch comparison {
    case .notEqual: .always
    case .less, .lessOrEqual: isAbove ? .always : .never
    case .greater, .greaterOrEqual: isAbove ? .never : .always
    default: .never
    }
  }
}

extension Condition.Comparison {
  /// The operator in SQL; nil for searches in text.
  fileprivate var sign: String? {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    default: nil
    }
  }
}

extension CaselessText {
  /// The regular expression that finds the text, at a whole byte, in hexadecimal digits.
  fileprivate var hexPattern: String {
    let characters = characters.map { forms in "(?:\(forms.map(Self.hex).joined(separator: "|")))" }
    return "^(?:..)*" + characters.joined()
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String {
    scalar.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension Condition.Node {
  fileprivate var tests: Int {
    switch self {
    case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.tests }
    case .not(let part), .first(let part): part.tests
    default: 1
    }
  }
}

extension StoredValue.Class {
  fileprivate func test(of name: String) -> String {
    switch self {
    case .missing: "false"
    case .number: "\(name).integer IS NOT NULL OR \(name).real IS NOT NULL"
    case .text: "\(name).text IS NOT NULL OR \(name).raw IS NOT NULL"
    case .data: "\(name).bytes IS NOT NULL"
    }
  }
}
