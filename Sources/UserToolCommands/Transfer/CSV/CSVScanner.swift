/// Reads a record of delimited values (RFC 4180) line by line; quoted fields may contain line breaks.
///
/// Spaces around a quoted field are dropped.
struct CSVScanner {
  struct Mistake: Error {
    /// The offset from the start of the last line that was fed, in bytes.
    let offset: Int
    let reason: String
  }

  private(set) var fields: [[UInt8]] = []
  private let delimiter: CSVDelimiter
  private var field: [UInt8] = []
  private var state = State.fieldStart

  private enum State {
    /// At the start, or after spaces.
    case fieldStart
    case plain, quoted
    /// After a quote in a quoted field: its end, or the first of two quotes that stand for one.
    case afterQuote
    /// After spaces behind a quoted field.
    case afterField
  }

  init(_ delimiter: CSVDelimiter = .comma) {
    self.delimiter = delimiter
  }

  var isAtStart: Bool { state == .fieldStart && field.isEmpty && fields.isEmpty }

  /// Reads a line, and returns whether the record ends with it.
  mutating func feed(_ line: ArraySlice<UInt8>) throws(Mistake) -> Bool {
    for index in line.indices {
      // Outside quotes, a carriage return before the line feed belongs to the line end.
      if line[index] == 0x0D, index == line.endIndex - 1, state != .quoted { break }
      try feed(line[index], at: index - line.startIndex)
    }
    if state == .quoted {
      field.append(0x0A)
      return false
    }
    endField()
    return true
  }

  private mutating func feed(_ byte: UInt8, at offset: Int) throws(Mistake) {
    switch (state, byte) {
    case (.fieldStart, UInt8(ascii: "\"")): (state, field) = (.quoted, [])
    case (.quoted, UInt8(ascii: "\"")): state = .afterQuote
    case (.quoted, _): field.append(byte)
    case (_, delimiter.byte): endField()
    case (.afterQuote, UInt8(ascii: "\"")):
      field.append(byte)
      state = .quoted
    case (.afterQuote, 0x20), (.afterField, 0x20): state = .afterField
    case (.afterQuote, _), (.afterField, _):
      throw Mistake(offset: offset, reason: "expected \(delimiter.name) after the closing quote")
    case (_, UInt8(ascii: "\"")):
      throw Mistake(offset: offset, reason: "a quote in a field that does not start with a quote")
    case (_, 0x0D): throw Mistake(offset: offset, reason: "a carriage return in the middle of a line")
    case (.fieldStart, 0x20): field.append(byte)
    default:
      field.append(byte)
      state = .plain
    }
  }

  private mutating func endField() {
    fields.append(field)
    field = []
    state = .fieldStart
  }
}

/// The rows of CSV, as bytes; empty lines are skipped.
struct CSVRows {
  struct Row {
    let line: Int
    /// The text in the file; nil if it was too long to keep.
    let text: ArraySlice<UInt8>?
    let fields: Result<[[UInt8]], BadRecord>
  }

  private(set) var lines: LineReader
  private let delimiter: CSVDelimiter

  init(_ lines: LineReader, _ delimiter: CSVDelimiter) {
    self.lines = lines
    self.delimiter = delimiter
  }

  mutating func next() throws(Failure) -> Row? {
    while let line = try lines.next() {
      if line.isTooLong { return tooLong(line.number) }
      if line.bytes.isEmpty || line.bytes.elementsEqual([0x0D]) { continue }
      return try row(from: line)
    }
    return nil
  }

  private mutating func row(from first: SourceLine) throws(Failure) -> Row {
    var scanner = CSVScanner(delimiter)
    var text = first.bytes
    var line = first
    while true {
      do throws(CSVScanner.Mistake) {
        if try scanner.feed(line.bytes) { return Row(line: first.number, text: text, fields: .success(scanner.fields)) }
      } catch {
        let bad = BadRecord(line: line.number, column: error.offset + 1, error.reason)
        return Row(line: first.number, text: text, fields: .failure(bad))
      }
      guard let more = try lines.next() else {
        let bad = BadRecord(line: first.number, "the file ends inside the quotes of this record")
        return Row(line: first.number, text: text, fields: .failure(bad))
      }
      if more.isTooLong || text.count + more.bytes.count > lines.limit { return tooLong(first.number) }
      text.append(0x0A)
      text += more.bytes
      line = more
    }
  }

  private func tooLong(_ line: Int) -> Row {
    Row(line: line, text: nil, fields: .failure(BadRecord(line: line, lines.tooLong)))
  }
}
