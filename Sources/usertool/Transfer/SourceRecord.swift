import UserStore

/// A record of a file: its content, or why it is bad.
struct SourceRecord {
  /// The number of its first line, counted from 1.
  let line: Int
  /// The text in the file; nil if it was too long to keep.
  let text: ArraySlice<UInt8>?
  let content: Result<RecordContent, BadRecord>
}

/// Why a record cannot be imported.
struct BadRecord: Error {
  let line: Int
  /// The column in bytes, counted from 1; nil if it would not help to find the error.
  let column: Int?
  let reason: String

  init(line: Int, column: Int? = nil, _ reason: String) {
    self.line = line
    self.column = column
    self.reason = String(String.UnicodeScalarView(reason.unicodeScalars.prefix(300)))
  }

  /// `12:7: the reason`.
  var description: String { "\(line):" + (column.map { "\($0):" } ?? "") + " " + reason }
}

/// The fields of a record.
struct RecordContent {
  let id: User.ID?
  /// The values, one per attribute.
  let values: [(attribute: AttributeName, value: StoredValue)]

  /// Checks the fields; throws for an id that is not valid, an unknown color, and an attribute that occurs twice.
  init(_ fields: [(name: AttributeName, value: StoredValue)]) throws(Failure) {
    var id: User.ID?
    var values: [(attribute: AttributeName, value: StoredValue)] = []
    var known: Set<AttributeName> = []
    for (attribute, value) in fields {
      guard known.insert(attribute).inserted else { throw Failure(.badData, "\"\(attribute)\" is given twice") }
      if attribute == "id" {
        id = try Self.id(value)
      } else if attribute == .hairColor, case .text(let text) = value {
        values.append((attribute, try ColorText.color(text).storedValue))
      } else {
        values.append((attribute, value))
      }
    }
    self.id = id
    self.values = values
  }

  private static func id(_ value: StoredValue) throws(Failure) -> User.ID? {
    switch value {
    case .null: return nil
    // Also zero and negative ids: other programs can store users with them, and these are exported.
    case .integer(let number): return User.ID(number)
    default: throw Failure(.badData, "an id must be a whole number, not \(value.quoted)")
    }
  }
}

/// A sequence of records.
protocol RecordSource {
  /// The next record; nil at the end.
  mutating func next() throws(Failure) -> SourceRecord?

  /// The number of bytes read so far.
  var offset: Int64 { get }
}

extension LineReader {
  var tooLong: String { "the line is longer than \(limit >> 20) MiB" }
}
