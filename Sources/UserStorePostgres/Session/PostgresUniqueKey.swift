import Synchronization
import UserStore

/// A unique attribute: the statements that write and find its values, with the expression of the attribute's index.
///
/// The index refuses a value that another user has, but its refusal ends the transaction. So the library's statements do not write
/// such a value; the index refuses only one that another program writes at that moment. A savepoint for each write would do without:
/// more than 64 in a transaction slow the whole server.
struct PostgresUniqueKey: Sendable {
  let index: AttributeIndex
  /// Sets the attribute of user $1 unless another user has the value.
  let put: PostgresStatement
  /// Selects a user other than $6 who has the value in the first five parameters.
  let selectHolder: PostgresStatement
  /// Selects each value that several users have, with one of the users, in the order of the index.
  let selectDuplicates: PostgresStatement

  init(_ index: AttributeIndex) {
    self.index = index
    let columns = PostgresSession.attributeColumns
    let (find, put) = ("find the user of a unique value", "set an attribute")
    let types = StoredValue.types
    if [.name, .hairColor].contains(index.attribute) {
      let column = index.attribute.text
      let key = Self.text("o.\(column)", index)
      self.put = PostgresStatement(
        put,
        """
        UPDATE userstore.users SET \(column) = $2 WHERE id = $1 AND \(column) IS DISTINCT FROM $2 AND NOT EXISTS (
          SELECT FROM userstore.users o WHERE o.\(column) IS NOT NULL AND \(key) = \(Self.text("$2", index)) AND o.id <> $1)
        """, .int8, .text)
      // All five parameters have a use, so that the value of any attribute fits.
      selectHolder = PostgresStatement(
        find,
        """
        SELECT o.id FROM userstore.users o WHERE o.\(column) IS NOT NULL AND \(key) = \(Self.text("$3", index))
          AND num_nonnulls($1, $2, $4, $5) = 0 AND o.id IS DISTINCT FROM $6 LIMIT 1
        """, types: types + [.int8])
      selectDuplicates = PostgresStatement(
        once: "find values of several users",
        """
        SELECT NULL::int8, NULL::float8, \(column), NULL::bytea, NULL::bytea, id
        FROM (SELECT o.*, \(key) AS key, count(*) OVER (PARTITION BY \(key)) FROM userstore.users o WHERE o.\(column) IS NOT NULL) o
        WHERE count > 1 ORDER BY key, id
        """)
    } else {
      let name = Self.literal(index.attribute.text)
      let key = Self.value({ "o.\($0)" }, index)
      let parameters = ["integer": 0, "real": 1, "text": 2, "bytes": 3, "raw": 4]
      self.put = PostgresStatement(
        put,
        PostgresSession.putText(
          unless: """
            EXISTS (SELECT FROM userstore.attributes o WHERE o.name = \(name)
              AND \(key) = \(Self.value({ "$\(parameters[$0, default: 0] + 3)" }, index)) AND o.user_id <> $1)
            """), types: [.int8, .text] + types)
      selectHolder = PostgresStatement(
        find,
        """
        SELECT o.user_id FROM userstore.attributes o WHERE o.name = \(name)
          AND \(key) = \(Self.value({ "$\(parameters[$0, default: 0] + 1)" }, index)) AND o.user_id IS DISTINCT FROM $6 LIMIT 1
        """, types: types + [.int8])
      selectDuplicates = PostgresStatement(
        once: "find values of several users",
        """
        SELECT \(columns), user_id
        FROM (SELECT o.*, \(key) AS key, count(*) OVER (PARTITION BY \(key)) FROM userstore.attributes o WHERE o.name = \(name)) o
        WHERE count > 1 ORDER BY key, user_id
        """)
    }
  }

  /// `userstore.unique_key` of a built-in attribute.
  static func text(_ text: String, _ index: AttributeIndex) -> String {
    // The columns have this collation.
    let folded = index.ignoresCase ? "lower(\(text)\(text.hasPrefix("$") ? " COLLATE \"C\"" : ""))" : text
    return "CASE WHEN octet_length(\(text)) > 1000 THEN 'm' || md5(\(folded)) ELSE 't' || \(folded) END"
  }

  /// `userstore.unique_key` of any other attribute, whose columns have the names that `column` returns.
  static func value(_ column: (String) -> String, _ index: AttributeIndex) -> String {
    let (integer, real, bytes, raw) = (column("integer"), column("real"), column("bytes"), column("raw"))
    let foldedRaw = index.ignoresCase ? "lower(encode(\(raw), 'escape') COLLATE \"C\")" : raw
    return """
      CASE WHEN \(column("text")) IS NOT NULL THEN \(text(column("text"), index))
        WHEN \(integer) IS NOT NULL THEN 'n' || \(integer)::text
        WHEN \(real) IS NOT NULL THEN CASE
          WHEN \(real) = trunc(\(real)) AND \(real) >= '-9223372036854775808'::float8 AND \(real) < '9223372036854775808'::float8
          THEN 'n' || \(real)::int8::text ELSE 'f' || encode(float8send(\(real)), 'hex') END
        WHEN \(bytes) IS NOT NULL THEN CASE WHEN octet_length(\(bytes)) > 1000 THEN 'c' || md5(\(bytes)) ELSE 'b' || encode(\(bytes), 'hex') END
        ELSE 'r' || md5(\(foldedRaw)) END
      """
  }

  /// Text as a literal, whatever `standard_conforming_strings` is in the session.
  ///
  /// Scalar by scalar: a quote and an accent after it are one character in Swift.
  static func literal(_ text: String) -> String {
    var literal = String.UnicodeScalarView("E'".unicodeScalars)
    for scalar in text.unicodeScalars {
      if scalar == "'" || scalar == "\\" { literal.append("\\") }
      literal.append(scalar)
    }
    literal.append("'")
    return String(literal)
  }
}

/// The unique attributes that a store knows, for all its sessions.
///
/// Another program can add or remove one at any time. What is then known is only outdated: the index decides, and the store reads them
/// again when a statement contradicts what it knows.
final class PostgresUniqueKeys: Sendable {
  /// Statements are prepared once for each connection, so a key is made once.
  private let made = Mutex<[AttributeIndex: PostgresUniqueKey]>([:])
  private let known = Mutex<[AttributeName: PostgresUniqueKey]?>([:])

  var keys: [AttributeName: PostgresUniqueKey]? { known.withLock { $0 } }

  func key(_ index: AttributeIndex) -> PostgresUniqueKey {
    made.withLock { made in
      if let key = made[index] { return key }
      let key = PostgresUniqueKey(index)
      made[index] = key
      return key
    }
  }

  func note(_ indexes: [AttributeIndex]) -> [AttributeName: PostgresUniqueKey] {
    let keys = Dictionary(indexes.map { ($0.attribute, key($0)) }) { $1 }
    known.withLock { $0 = keys }
    return keys
  }

  func forget() { known.withLock { $0 = nil } }
}

extension PostgresSession {
  private static let mark = "userstore: unique values of "
  private static let caselessMark = "userstore: unique values, ignoring case, of "
  private static let selectUnique = PostgresStatement(
    "read the unique attributes",
    """
    SELECT d.description FROM pg_catalog.pg_index i
      JOIN pg_catalog.pg_description d ON d.objoid = i.indexrelid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0
    WHERE i.indrelid IN ('userstore.users'::regclass, 'userstore.attributes'::regclass)
      AND starts_with(d.description, 'userstore: unique values')
    """)

  /// Reads the unique attributes.
  func uniqueIndexes() throws(StoreError) -> [AttributeIndex] {
    let marks = try all(Self.selectUnique) { $0.text(0) }
    let indexes = marks.compactMap { mark -> AttributeIndex? in
      for (prefix, ignoresCase) in [(Self.mark, false), (Self.caselessMark, true)]
      where mark.utf8.starts(with: prefix.utf8) {
        return AttributeIndex(uniqueOn: AttributeName(String(mark.dropFirst(prefix.count))), ignoringCase: ignoresCase)
      }
      return nil
    }
    return indexes
  }

  /// The key of a unique attribute, as far as the store knows.
  func uniqueKey(of attribute: AttributeName) throws(StoreError) -> PostgresUniqueKey? {
    if let keys = uniqueKeys.keys { return keys[attribute] }
    return uniqueKeys.note(try uniqueIndexes())[attribute]
  }

  func holder(of value: StoredValue, _ attribute: AttributeName, besides id: User.ID?) throws(StoreError) -> User.ID? {
    guard let key = try uniqueKey(of: attribute), !value.isNull else { return nil }
    let result = try pipeline { $0.add(key.selectHolder, value.columns + [id.map { .int8($0.rawValue) } ?? .null]) }
    return try result.first { User.ID($0.int8(0)) }
  }

  func eachDuplicate(of index: AttributeIndex, while body: (StoredValue, [User.ID]) -> Bool) throws(StoreError) {
    var holders = ValueHolders(of: index)
    try scan(uniqueKeys.key(index).selectDuplicates) { holders.add(User.ID($0.int8(5)), $0.value(0), while: body) }
    holders.end(body)
  }

  /// The error for a value that the server has refused: `notUnique` if the index of a unique attribute did.
  func refusal(
    _ error: StoreError, of values: [(attribute: AttributeName, value: StoredValue)], of id: User.ID?
  ) -> StoreError {
    guard let constraint = error.postgres?.constraint, constraint.hasPrefix("unique_") else { return error }
    uniqueKeys.forget()
    // The transaction has failed, so the other user is not looked for.
    let refused = values.first { constraint.hasPrefix("unique_\($0.attribute)_") } ?? values.first
    return refused.map { .notUnique($0.attribute, $0.value, of: id, holder: nil) } ?? error
  }
}
