import UserStore
import UserStoreText

/// CSV: a header line with the attribute names, then one record per user.
struct CSVRecords: RecordSource {
  private var rows: CSVRows
  private let header: CSVColumns
  private var tallies: [ColumnTally]
  /// The encoding that was known before the first record.
  private let encoding: String?
  /// Whether the file is an export, whose fields have the types of the stored values.
  private let isExport: Bool
  let remark: String?

  /// Recognizes the delimiter and reads the header line; throws, with the position, if that is missing or not valid.
  init(_ lines: LineReader, _ choices: CSVChoices = CSVChoices()) throws(Failure) {
    var lines = lines
    let start = try lines.firstBlock()
    let given = CSVDelimiter(line: start.prefix { $0 != 0x0A })
    // Skips the `sep=` line, even if the user chose another delimiter.
    if given != nil { _ = try lines.next() }
    let delimiter =
      choices.delimiter ?? given
      ?? CSVDelimiter.recognized(in: start) { CSVColumns.areTitles($0, choices) }
    rows = CSVRows(lines, delimiter)
    header = try Self.header(from: &rows, choices)
    tallies = Array(repeating: ColumnTally(), count: header.columns.count)
    encoding = rows.lines.encoding
    isExport = start.starts(with: CSVDelimiter.exportStart)
    let isExpected = choices.delimiter != nil || delimiter == .comma
    let recognized = choices.encoding == nil ? encoding : nil
    let parts = [recognized.map { " as \($0)" }, isExpected ? nil : " with \(delimiter.name) between the fields"]
    remark = parts == [nil, nil] ? nil : "reading \(rows.lines.name)" + parts.compactMap(\.self).joined()
  }

  var lines: LineReader { rows.lines }

  var notes: [String] {
    // The first character beyond ASCII may come late in the file.
    let late = encoding == lines.encoding ? [] : ["note: \(lines.name) is \(lines.encoding ?? "UTF-8")"]
    if isExport { return late }
    return late + zip(header.columns, tallies).compactMap { column, tally in tally.note(on: column.title) }
  }

  mutating func next() throws(Failure) -> SourceRecord? {
    guard let row = try rows.next() else { return nil }
    do throws(BadRecord) {
      return SourceRecord(line: row.line, text: row.text, content: .success(try content(of: row)))
    } catch {
      return SourceRecord(line: row.line, text: row.text, content: .failure(error))
    }
  }

  private static func header(from rows: inout CSVRows, _ choices: CSVChoices) throws(Failure) -> CSVColumns {
    let name = rows.lines.name
    guard let row = try rows.next() else {
      let message = "\(name):1: the file is empty; expected a header line with the attribute names"
      throw Failure(.badData, message, hint: "nothing was changed")
    }
    var titles: [String] = []
    do throws(BadRecord) {
      for field in try row.fields.get() {
        guard let title = String(validating: field, as: UTF8.self) else {
          throw BadRecord(line: row.line, "the header line is \(rows.lines.invalidText)")
        }
        titles.append(title)
      }
    } catch { throw Failure(.badData, "\(name):\(error.description)", hint: "nothing was changed") }
    do throws(Failure) { return try CSVColumns(titles, choices) } catch {
      let hint = ["nothing was changed", error.hint].compactMap(\.self).joined(separator: "; ")
      throw Failure(error.status, "\(name):\(row.line): \(error.message)", hint: hint)
    }
  }

  private mutating func content(of row: CSVRows.Row) throws(BadRecord) -> RecordContent {
    let fields = try checked(try row.fields.get(), row.line)
    var values: [RecordContent.Field] = []
    for (index, field) in fields.enumerated() {
      let column = header.columns[index]
      guard let name = column.name else {
        if field.isEmpty { continue }
        throw nameless(index, field, row.line)
      }
      guard let text = String(validating: field, as: UTF8.self) else {
        throw BadRecord(line: row.line, "the \(name) is \(lines.invalidText)")
      }
      do throws(TextError) { values.append(try value(of: text, column, name, &tallies[index])) } catch {
        throw BadRecord(line: row.line, "the \(name): \(error.message)")
      }
    }
    do throws(TextError) { return try RecordContent(values) } catch { throw BadRecord(line: row.line, error.message) }
  }

  private func value(
    of text: String, _ column: CSVColumns.Column, _ name: AttributeName, _ tally: inout ColumnTally
  ) throws(TextError) -> RecordContent.Field {
    if let type = column.type, !text.isEmpty {
      // Only an export has marks; they are not part of the text, and data has no other type.
      if isExport, let marked = CSVField.marked(text, of: name) {
        guard case .text(let text) = marked.value else { return marked }
        return .init(name, try type.value(of: text), isVerbatim: true)
      }
      return .init(name, try type.value(of: text), isVerbatim: column.isVerbatim)
    }
    let field = try CSVField.decode(text, of: name)
    if name != "id", !AttributeName.builtIn.contains(name) { tally.note(text, field.value) }
    return .init(name, field.value, isVerbatim: field.isVerbatim || column.isVerbatim)
  }

  private func checked(_ fields: [[UInt8]], _ line: Int) throws(BadRecord) -> ArraySlice<[UInt8]> {
    let count = header.columns.count
    let further = fields.indices.dropFirst(count).first { !fields[$0].isEmpty }
    if fields.count < count || further ?? 0 >= header.width {
      throw BadRecord(line: line, "the header has \(count) columns, but this record has \(fields.count)")
    }
    if let further { throw nameless(further, fields[further], line) }
    return fields.prefix(count)
  }

  private func nameless(_ index: Int, _ field: [UInt8], _ line: Int) -> BadRecord {
    let text = String(decoding: field, as: UTF8.self).excerpt
    return BadRecord(line: line, "\(header.place(index)) has no name, but here it has the field \"\(text)\"")
  }
}
