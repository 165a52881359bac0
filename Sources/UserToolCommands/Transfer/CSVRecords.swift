import UserStore
import UserStoreText

/// CSV: a header line with the attribute names, then one record per user; empty lines are skipped.
struct CSVRecords: RecordSource {
  private var rows: CSVRows
  private let names: [AttributeName]

  /// Reads the header line; throws a failure with its position if it is missing or not valid.
  init(_ lines: LineReader) throws(Failure) {
    rows = CSVRows(lines)
    let header = try rows.next()
    do throws(BadRecord) {
      guard let header else {
        throw BadRecord(line: 1, "the file is empty; expected a header line with the attribute names")
      }
      names = try Self.names(in: header)
    } catch {
      throw Failure(.badData, "\(lines.name):\(error.description)", hint: "nothing was changed")
    }
  }

  var offset: Int64 { rows.offset }

  mutating func next() throws(Failure) -> SourceRecord? {
    guard let row = try rows.next() else { return nil }
    do throws(BadRecord) {
      return SourceRecord(line: row.line, text: row.text, content: .success(try content(of: row)))
    } catch {
      return SourceRecord(line: row.line, text: row.text, content: .failure(error))
    }
  }

  private static func names(in header: CSVRows.Row) throws(BadRecord) -> [AttributeName] {
    var known: Set<AttributeName> = []
    var names: [AttributeName] = []
    for field in try header.fields.get() {
      guard let name = String(validating: field, as: UTF8.self) else {
        let isUTF16 = field.starts(with: [0xFF, 0xFE]) || field.starts(with: [0xFE, 0xFF])
        throw BadRecord(line: header.line, isUTF16 ? "this is UTF-16; expected UTF-8" : "this is not valid UTF-8")
      }
      let attribute = AttributeName(typed: name)
      if name.isEmpty { throw BadRecord(line: header.line, "a column has no name") }
      guard known.insert(attribute).inserted else {
        throw BadRecord(line: header.line, "two columns are named \"\(attribute)\"")
      }
      names.append(attribute)
    }
    guard names.contains(.name) || names.contains("id") else {
      throw BadRecord(line: header.line, "the header line must name the attributes, including \"name\" or \"id\"")
    }
    return names
  }

  private func content(of row: CSVRows.Row) throws(BadRecord) -> RecordContent {
    let fields = try row.fields.get()
    guard fields.count == names.count else {
      throw BadRecord(line: row.line, "the header has \(names.count) columns, but this record has \(fields.count)")
    }
    var values: [(name: AttributeName, value: StoredValue)] = []
    for (name, field) in zip(names, fields) {
      guard let text = String(validating: field, as: UTF8.self) else {
        throw BadRecord(line: row.line, "the \(name) is not valid UTF-8")
      }
      do throws(TextError) { values.append((name, try CSVField.decode(text, of: name))) } catch {
        throw BadRecord(line: row.line, "the \(name): \(error.message)")
      }
    }
    do throws(TextError) { return try RecordContent(values) } catch { throw BadRecord(line: row.line, error.message) }
  }
}

/// The rows of CSV, as bytes.
struct CSVRows {
  struct Row {
    let line: Int
    /// The text in the file; nil if it was too long to keep.
    let text: ArraySlice<UInt8>?
    let fields: Result<[[UInt8]], BadRecord>
  }

  private var lines: LineReader

  init(_ lines: LineReader) {
    self.lines = lines
  }

  var offset: Int64 { lines.offset }

  mutating func next() throws(Failure) -> Row? {
    while let line = try lines.next() {
      if line.isTooLong { return tooLong(line.number) }
      if line.bytes.isEmpty || line.bytes.elementsEqual([0x0D]) { continue }
      return try row(from: line)
    }
    return nil
  }

  private mutating func row(from first: SourceLine) throws(Failure) -> Row {
    var scanner = CSVScanner()
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
