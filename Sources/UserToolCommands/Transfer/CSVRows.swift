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
