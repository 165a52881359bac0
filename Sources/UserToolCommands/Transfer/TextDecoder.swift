import UserStore

/// Turns the bytes of a file into UTF-8, piece by piece.
///
/// Without an encoding from the user, a byte order mark decides. Else the file is UTF-8; in CSV, the first bytes beyond ASCII
/// decide whether it is Windows-1252, which agrees with UTF-8 up to there. They may come late in the file.
struct TextDecoder {
  private enum State {
    case start
    /// Only ASCII so far, in a file that may be Windows-1252.
    case ascii
    case utf8
    case converting(System.Converter)
  }

  /// The name of the encoding; nil for UTF-8.
  private(set) var encoding: String?
  private let isGuessing: Bool
  private var state = State.start
  /// The bytes that were too few to decide.
  private var pending: [UInt8] = []

  /// Creates a decoder that recognizes the encoding; `isGuessing` allows Windows-1252.
  init(isGuessing: Bool = false) {
    self.isGuessing = isGuessing
  }

  /// Creates a decoder for an encoding; throws if iconv does not know it.
  init(_ encoding: String) throws(Failure) {
    isGuessing = false
    try convert(from: encoding)
  }

  /// The next piece in UTF-8; an empty piece is the end.
  ///
  /// What is not valid in the encoding is not valid in UTF-8 either.
  ///
  /// - Throws: `Failure` if the encoding cannot be recognized.
  mutating func decode(_ piece: [UInt8]) throws(Failure) -> [UInt8] {
    switch state {
    case .utf8: return piece
    case .converting(let converter): return converter.convert(piece)
    case .start:
      try recognizeMark(piece)
      return try decode(piece)
    case .ascii: return try decide(pending + piece, isEnd: piece.isEmpty)
    }
  }

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

  private mutating func recognizeMark(_ piece: [UInt8]) throws(Failure) {
    // The mark itself becomes that of UTF-8.
    let marks: [(bytes: [UInt8], encoding: String)] = [
      ([0xFF, 0xFE, 0, 0], "UTF-32LE"), ([0, 0, 0xFE, 0xFF], "UTF-32BE"), ([0xFF, 0xFE], "UTF-16LE"),
      ([0xFE, 0xFF], "UTF-16BE"), ([0xEF, 0xBB, 0xBF], "UTF-8"),
    ]
    if let mark = marks.first(where: { piece.starts(with: $0.bytes) }) { return try convert(from: mark.encoding) }
    state = isGuessing ? .ascii : .utf8
  }

  private mutating func decide(_ bytes: [UInt8], isEnd: Bool) throws(Failure) -> [UInt8] {
    pending = []
    guard let first = bytes.firstIndex(where: { $0 >= 0x80 }) else { return bytes }
    let census = UTF8Census(bytes[first...], isEnd: isEnd)
    if census.characters == 0, census.invalidBytes == 0 {
      pending = Array(bytes[first...])
      return Array(bytes[..<first])
    }
    // A few invalid bytes among characters are damage in a record, which is bad then.
    if census.invalidBytes == 0 || census.characters > census.invalidBytes {
      state = .utf8
      return bytes
    }
    if let byte = bytes[first...].first(where: Self.isUndefined) {
      throw Failure(
        .badData, "the encoding is neither UTF-8 nor Windows-1252, which has no byte 0x\(String(byte, radix: 16))",
        hint: "name it with --encoding, for example --encoding CP932 for Japanese; iconv -l lists all")
    }
    try convert(from: "Windows-1252")
    return try decode(bytes)
  }

  /// Whether Windows-1252 has no character for the byte.
  private static func isUndefined(_ byte: UInt8) -> Bool { [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains(byte) }
}

/// The numbers of characters beyond ASCII, and of bytes that are not valid UTF-8, in a piece of a file.
struct UTF8Census {
  private(set) var characters = 0
  private(set) var invalidBytes = 0

  /// Counts; unless the piece is the end, a character that its last bytes may start is not counted.
  init(_ bytes: ArraySlice<UInt8>, isEnd: Bool) {
    var rest = bytes
    while let first = rest.first {
      let length = Self.length(startingWith: first)
      let character = rest.prefix(length)
      if first < 0x80 {
        rest.removeFirst()
      } else if length > 1, String(validating: character, as: UTF8.self) != nil {
        characters += 1
        rest.removeFirst(length)
      } else if !isEnd, character.count < length, character.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) {
        return
      } else {
        invalidBytes += 1
        rest.removeFirst()
      }
    }
  }

  private static func length(startingWith byte: UInt8) -> Int {
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }
}
