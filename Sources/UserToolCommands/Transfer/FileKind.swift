import UserStore
import UserStoreText

/// The kind of a file that is neither JSON lines nor CSV, by its first bytes, and the way to import it.
enum FileKind {
  /// A file that `command` converts for an import; an archive has one file, whose format its name may show.
  case readable(_ what: String, _ command: String, isArchive: Bool = false)
  case spreadsheet
  case carriageReturns

  private static let marks: [(bytes: [UInt8], kind: FileKind)] = [
    ([0x1F, 0x8B], .readable("compressed with gzip", "gunzip -c", isArchive: true)),
    (
      [0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26],
      .readable("compressed with bzip2", "bunzip2 -c", isArchive: true)
    ),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .readable("compressed with xz", "xz -dc", isArchive: true)),
    ([0x28, 0xB5, 0x2F, 0xFD], .readable("compressed with zstd", "zstd -dc", isArchive: true)),
    // Spreadsheets are zip archives; those before 2007 were containers of their own.
    ([0x50, 0x4B, 0x03, 0x04], .spreadsheet), ([0xD0, 0xCF, 0x11, 0xE0], .spreadsheet),
    (Array("SQLite format 3\0".utf8), .readable("a SQLite database", "usertool export --db")),
  ]

  /// Recognizes a file; nil if it may have the format, which is nil if unknown.
  init?(_ start: [UInt8], _ format: TransferFormat?) {
    if let mark = Self.marks.first(where: { start.starts(with: $0.bytes) }) {
      self = mark.kind
      return
    }
    let text = Self.text(start)
    let second = text.dropFirst().first { !Self.isSpace($0) }
    switch text.first {
    // A column's title can also start with a bracket.
    case UInt8(ascii: "[") where format != .csv || second.map { "{]".utf8.contains($0) } ?? false:
      self = .readable("a JSON array", "jq -c '.[]'")
    case UInt8(ascii: "{") where Self.endsLine(text.dropFirst()):
      self = .readable("JSON in which an object has several lines", "jq -c .")
    case UInt8(ascii: "{"): return nil
    default:
      // Within 4 KiB, only the names in an export's header line can have a carriage return but no line feed.
      guard format == .csv, start.contains(0x0D), !start.contains(0x0A), !start.starts(with: CSVDelimiter.exportStart)
      else { return nil }
      self = .carriageReturns
    }
  }

  /// The error for the file at a path, or for `-`, with a command that imports it with the same options.
  func failure(_ name: String, at path: String, _ format: TransferFormat?) -> Failure {
    // With ./, a name that starts with a dash is no option.
    let argument = path == "-" ? "" : " " + (path.hasPrefix("-") ? "./" + path : path).shellWord()
    switch self {
    case .readable(let what, let command, let isArchive):
      let inner = path.split(separator: ".").dropLast().joined(separator: ".")
      let isCSV = isArchive && (format ?? (try? TransferFormat(nil, path: inner))) == .csv
      let again = CommandWords.again(["-"], format: isCSV ? "csv" : nil)
      return Failure(.badData, "\(name) is \(what)", hint: "\(command)\(argument) | \(again)")
    case .spreadsheet:
      return Failure(
        .badData, "\(name) is a spreadsheet or a zip archive",
        hint: path == "-" ? "save it as CSV" : "libreoffice --headless --convert-to csv\(argument) saves it as CSV")
    case .carriageReturns:
      return Failure(
        .badData, "\(name) has lines that end with a carriage return only",
        hint: "tr '\\r' '\\n' \(argument.isEmpty ? "" : "<\(argument) ")| \(CommandWords.again(["-"], format: "csv"))")
    }
  }

  /// The encoding of UTF-16 without a byte order mark, which starts with two ASCII characters; nil for any other text.
  static func utf16(_ start: [UInt8]) -> String? {
    switch start.prefix(4).map({ $0 == 0 }) {
    case [false, true, false, true]: "UTF-16LE"
    case [true, false, true, false]: "UTF-16BE"
    default: nil
    }
  }

  /// The text from its first character that is not white space.
  static func text(_ start: [UInt8]) -> ArraySlice<UInt8> {
    // Drops byte order marks, and in UTF-16 every second byte.
    start.filter { ![0, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF].contains($0) }.drop(while: isSpace)[...]
  }

  private static func endsLine(_ text: ArraySlice<UInt8>) -> Bool {
    text.first { ![0x20, 0x09, 0x0D].contains($0) } == 0x0A
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D, 0x0A].contains(byte) }
}

extension TransferFormat {
  /// The format that another file extension or the start of standard input suggests; nil if unknown.
  init?(imported path: String, _ start: [UInt8]) {
    let name = path.lowercased()
    if [".tsv", ".tab"].contains(where: name.hasSuffix) {
      self = .csv
    } else if name.hasSuffix(".json") {
      self = .jsonl
    } else if path == "-" {
      let isTitle = FileKind.text(start).first.map { $0 >= 0x80 || $0 == UInt8(ascii: "\"") || Self.isWord($0) }
      self = isTitle == true ? .csv : .jsonl
    } else {
      return nil
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    Unicode.Scalar(byte).properties.isAlphabetic || (0x30..<0x3A).contains(byte)
  }
}
