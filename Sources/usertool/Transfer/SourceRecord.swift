import UserStore

/// A record of a file: what it says, or why it cannot be taken.
struct SourceRecord {
  /// Of its first line, counted from 1.
  let line: Int
  /// As it stands in the file; nil when it was too long to keep.
  let text: ArraySlice<UInt8>?
  let content: Result<RecordContent, BadRecord>
}

/// Why a record cannot be taken.
struct BadRecord: Error {
  let line: Int
  /// In bytes, counted from 1, where that helps to find it.
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
  /// By attribute, each once.
  let values: [(attribute: AttributeName, value: StoredValue)]

  /// - Throws: `Failure` for an id that is none, a colour that nobody knows, and an attribute that comes twice.
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
    // Zero and less too: other programs can store a user with such an id, and it is exported.
    case .integer(let number): return User.ID(number)
    default: throw Failure(.badData, "an id is a whole number, not \(value.quoted)")
    }
  }
}

/// Records, one after the other.
protocol RecordSource {
  /// - Returns: nil at the end.
  /// - Throws: `Failure` when reading fails.
  mutating func next() throws(Failure) -> SourceRecord?

  /// How many bytes were read so far.
  var offset: Int64 { get }
}

extension LineReader {
  var tooLong: String { "the line is longer than \(limit >> 20) MiB" }
}
