import UserStore

/// Converts a file to UTF-8, piece by piece.
///
/// Without an encoding from the user, a byte order mark decides. Without a mark, the file is UTF-8. CSV, however, is Windows-1252
/// if its first bytes beyond ASCII are not a character in UTF-8; the text before them is the same in both.
struct TextDecoder {
  private enum State {
    case start
    /// Only ASCII so far, in a file that may be Windows-1252.
    case ascii
    case utf8
    case converting(System.Converter)
  }

  private(set) var encoding: String?
  /// Whether the file may be Windows-1252.
  let isGuessing: Bool
  private var state = State.start
  /// Bytes too few to decide.
  private var pending: [UInt8] = []

  /// Creates a decoder that recognizes the encoding; `isGuessing` allows Windows-1252.
  init(isGuessing: Bool = false) {
    self.isGuessing = isGuessing
  }

  init(_ encoding: String) throws(Failure) {
    isGuessing = false
    try convert(from: encoding)
  }

  /// The next piece in UTF-8; an empty piece is the end.
  ///
  /// Bytes that are invalid in the encoding become bytes that are invalid in UTF-8.
  ///
  /// - Throws: `Failure` if the encoding cannot be recognized.
  mutating func decode(_ piece: [UInt8]) throws(Failure) -> [UInt8] {
    switch state {
    case .utf8: return piece
    case .converting(let converter): return converter.convert(piece)
    case .start, .ascii: break
    }
    let (bytes, isEnd) = (pending + piece, piece.isEmpty)
    pending = []
    if case .ascii = state { return try decide(bytes, isEnd: isEnd) }
    if bytes.count < Self.longestMark, !isEnd {
      pending = bytes
      return []
    }
    try recognizeMark(bytes)
    // An empty piece would mean the end.
    return try bytes.isEmpty ? [] : decode(bytes) + (isEnd ? decode([]) : [])
  }

  private static let longestMark = 4

  private mutating func convert(from encoding: String) throws(Failure) {
    if ["utf-8", "utf8"].contains(encoding.lowercased()) { return state = .utf8 }
    // After a slash, iconv has options that drop or replace characters.
    guard !encoding.isEmpty, !encoding.contains("/"), let converter = System.Converter(from: encoding) else {
      throw Failure(
        .usage, "iconv does not know the encoding \"\(encoding)\"",
        hint: "iconv -l lists all; some are Windows-1252, CP932, GB18030, UTF-16LE and MACINTOSH")
    }
    self.encoding = encoding
    state = .converting(converter)
  }

  private mutating func recognizeMark(_ bytes: [UInt8]) throws(Failure) {
    // iconv converts the mark to that of UTF-8.
    let marks: [(bytes: [UInt8], encoding: String)] = [
      ([0xFF, 0xFE, 0, 0], "UTF-32LE"), ([0, 0, 0xFE, 0xFF], "UTF-32BE"), ([0xFF, 0xFE], "UTF-16LE"),
      ([0xFE, 0xFF], "UTF-16BE"), ([0xEF, 0xBB, 0xBF], "UTF-8"),
    ]
    if let mark = marks.first(where: { bytes.starts(with: $0.bytes) }) { return try convert(from: mark.encoding) }
    state = isGuessing ? .ascii : .utf8
  }

  private mutating func decide(_ bytes: [UInt8], isEnd: Bool) throws(Failure) -> [UInt8] {
    guard let first = bytes.firstIndex(where: { $0 >= 0x80 }) else { return bytes }
    let start = bytes[first...].prefix(4)
    if (1...4).contains(where: { String(validating: start.prefix($0), as: UTF8.self) != nil }) {
      state = .utf8
      return bytes
    }
    // A character has up to four bytes.
    if !isEnd, start.count < 4 {
      pending = Array(start)
      return Array(bytes[..<first])
    }
    if Self.isUndefined(bytes[first]) {
      throw Failure(
        .badData,
        "the encoding is neither UTF-8 nor Windows-1252, which has no byte 0x\(String(bytes[first], radix: 16))",
        hint: "name it with --encoding, for example --encoding CP932 for Japanese; iconv -l lists all")
    }
    try convert(from: "Windows-1252")
    return try decode(bytes)
  }

  private static func isUndefined(_ byte: UInt8) -> Bool { [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains(byte) }
}
