/// Reads a record of comma-separated values, as RFC 4180 has it, line by line: quotes may hold several.
struct CSVScanner {
  struct Mistake: Error {
    /// From the start of the line that was fed last, in bytes.
    let offset: Int
    let reason: String
  }

  /// The fields of the record that was fed.
  private(set) var fields: [[UInt8]] = []
  private var field: [UInt8] = []
  private var state = State.fieldStart

  private enum State {
    case fieldStart, plain, quoted
    /// After a quote inside quotes: the end of the field, or the first half of a quote.
    case afterQuote
  }

  /// - Returns: whether the record ends with this line.
  /// - Throws: `Mistake`.
  mutating func feed(_ line: ArraySlice<UInt8>) throws(Mistake) -> Bool {
    for index in line.indices {
      // The first half of the line's end, but for inside quotes.
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
    case (.fieldStart, UInt8(ascii: "\"")): state = .quoted
    case (.quoted, UInt8(ascii: "\"")): state = .afterQuote
    case (.quoted, _): field.append(byte)
    case (_, UInt8(ascii: ",")): endField()
    case (.afterQuote, UInt8(ascii: "\"")):
      field.append(byte)
      state = .quoted
    case (.afterQuote, _): throw Mistake(offset: offset, reason: "a comma is expected after the closing quote")
    case (_, UInt8(ascii: "\"")):
      throw Mistake(offset: offset, reason: "a quote in a field that does not begin with one")
    case (_, 0x0D): throw Mistake(offset: offset, reason: "a carriage return in the middle of a line")
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
