import UserStore
import UserStoreText

struct SourceRecord {
  /// The number of its first line, counted from 1.
  let line: Int
  /// The text in the file; nil if it was too long to keep.
  let text: ArraySlice<UInt8>?
  let content: Result<RecordContent, BadRecord>
}

struct BadRecord: Error {
  let line: Int
  /// The column in bytes, counted from 1; nil if it would not help.
  let column: Int?
  let reason: String

  init(line: Int, column: Int? = nil, _ reason: String) {
    self.line = line
    self.column = column
    self.reason = reason.limited(to: 300)
  }

  /// `12:7: the reason`.
  var description: String { "\(line):" + (column.map { "\($0):" } ?? "") + " " + reason }
}

/// A sequence of records.
protocol RecordSource {
  mutating func next() throws(Failure) -> SourceRecord?

  var lines: LineReader { get }

  /// A remark on an unexpected way of reading the file, known before the first record.
  var remark: String? { get }

  /// Notes for the user, after all records were read.
  var notes: [String] { get }
}

extension RecordSource {
  var remark: String? { nil }
  var notes: [String] { [] }
}

extension LineReader {
  var tooLong: String { "the line is longer than \(limit >> 20) MiB" }
}
