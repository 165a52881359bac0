/// The index of an attribute: its name and its SQL, which the check of the schema compares byte by byte.
///
/// Indexes of further attributes are partial, so that only a write of the attribute pays for them. They contain the name,
/// although it is always the same: without it, SQLite 3.40 also reads the row of each entry, to compare its name.
struct AttributeIndex {
  let attribute: AttributeName

  static let prefix = "userstore_index_"

  init(on attribute: AttributeName) {
    self.attribute = attribute
  }

  /// Returns the index that the library would create with this name, if its SQL is this one.
  init?(name: String, sql: String) {
    guard Self.isName(name) else { return nil }
    self.init(on: Self.attribute(name))
    guard (try? Limits.checkIndex(on: attribute)) != nil, self.name.hasSameBytes(as: name),
      self.sql.hasSameBytes(as: sql)
    else { return nil }
  }

  /// Whether only the library may give an index this name.
  static func isName(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

  /// SQLite ignores the case of ASCII letters in the names of indexes: `Age` is `^age`, and `^` is `^^`.
  private var name: String {
    var name = Array(Self.prefix.utf8)
    for byte in attribute.text.utf8 {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      if isUpper || byte == Self.escape { name.append(Self.escape) }
      name.append(isUpper ? byte + 32 : byte)
    }
    return String(decoding: name, as: UTF8.self)
  }

  private static let escape = UInt8(ascii: "^")

  private static func attribute(_ name: String) -> AttributeName {
    var (text, isEscaped): ([UInt8], Bool) = ([], false)
    for byte in name.utf8.dropFirst(prefix.utf8.count) {
      if byte == escape, !isEscaped {
        isEscaped = true
        continue
      }
      let isUpper = isEscaped && byte != escape
      text.append(isUpper ? byte &- 32 : byte)
      isEscaped = false
    }
    return AttributeName(String(decoding: text, as: UTF8.self))
  }

  var quotedName: String { name.quoted("\"") }

  var sql: String {
    switch attribute {
    case .name: "CREATE INDEX \(quotedName) ON users (name)"
    case .hairColor: "CREATE INDEX \(quotedName) ON users (hair_color) WHERE hair_color IS NOT NULL"
    default: "CREATE INDEX \(quotedName) ON attributes (value, user_id, name) WHERE name = \(attribute.literal)"
    }
  }
}
