import ArgumentParser
import UserStore

/// The character between the fields of CSV.
struct CSVDelimiter: Equatable {
  let byte: UInt8

  static let comma = CSVDelimiter(byte: UInt8(ascii: ","))

  /// The recognized delimiters, the preferred one first.
  private static let candidates = [comma] + ";\t|".utf8.map { CSVDelimiter(byte: $0) }

  /// The name in messages, such as `a semicolon`.
  var name: String {
    switch Unicode.Scalar(byte) {
    case ",": "a comma"
    case ";": "a semicolon"
    case "\t": "a tab"
    case "|": "a vertical bar"
    case " ": "a space"
    default: String(Unicode.Scalar(byte))
    }
  }

  // MARK: Recognition

  /// The start of an export, whose further attributes can have names with any characters.
  static let exportStart = Array("id,name,hair_color".utf8)

  /// Reads the delimiter from the line `sep=;`, which Excel reads and some programs write before the header line.
  init?(line: ArraySlice<UInt8>) {
    if line.count > 10 { return nil }
    let text = line.filter { $0 != UInt8(ascii: "\"") && $0 != 0x0D }
    let name = text.dropLast().map { $0 | 0x20 }
    guard text.count == 5, name.dropLast().elementsEqual("sep".utf8), text[3] == UInt8(ascii: "=") else { return nil }
    byte = text[4]
  }

  private init(byte: UInt8) { self.byte = byte }

  /// The delimiter of the rows at the start of a file; a comma if none fits; `isHeader` says whether fields can be a header line.
  static func recognized(in start: ArraySlice<UInt8>, isHeader: ([[UInt8]]) -> Bool) -> CSVDelimiter {
    if start.starts(with: exportStart) { return .comma }
    var best: (delimiter: CSVDelimiter, score: (Int, Int, Int))?
    for candidate in candidates {
      guard let score = score(candidate.rows(in: start), isHeader: isHeader) else { continue }
      if best.map({ $0.score < score }) ?? true { best = (candidate, score) }
    }
    return best?.delimiter ?? .comma
  }

  /// The fields of up to 20 rows; none after a row that is not valid with this delimiter.
  private func rows(in start: ArraySlice<UInt8>) -> [[[UInt8]]] {
    var rows: [[[UInt8]]] = []
    var scanner = CSVScanner(self)
    for line in start.split(separator: 0x0A, maxSplits: 1_000) where rows.count < 20 {
      if scanner.isAtStart, line.elementsEqual([0x0D]) { continue }
      guard let isComplete = try? scanner.feed(line) else { break }
      if !isComplete { continue }
      rows.append(scanner.fields)
      scanner = CSVScanner(self)
    }
    return rows
  }

  /// How well a delimiter fits, by decreasing weight: known columns, rows as long as the first, many fields; nil for one column.
  private static func score(_ rows: [[[UInt8]]], isHeader: ([[UInt8]]) -> Bool) -> (Int, Int, Int)? {
    guard let header = rows.first, header.count > 1 else { return nil }
    let equal = rows.count { $0.count == header.count }
    return (isHeader(header) ? 1 : 0, 100 * equal / rows.count, header.count)
  }
}

extension CSVDelimiter: ExpressibleByArgument {
  /// Reads one ASCII character, or the word `tab`.
  init?(argument: String) {
    let text = ["tab", "\\t"].contains(argument.lowercased()) ? "\t" : argument
    guard text.utf8.count == 1, let byte = text.utf8.first, byte < 0x80, byte >= 0x20 || byte == 0x09,
      byte != UInt8(ascii: "\"")
    else { return nil }
    self.byte = byte
  }
}
