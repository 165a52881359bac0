/// A line of a file, without its line feed.
struct SourceLine {
  let number: Int
  let bytes: ArraySlice<UInt8>
  /// Whether the line is longer than the limit, so that its bytes were dropped.
  var isTooLong = false
}

/// Reads a file line by line, as UTF-8; memory is bounded by the longest line.
struct LineReader {
  /// The longest line, with room for several values of 16 MiB in base64.
  static let defaultLimit = 1 << 27

  let name: String
  let limit: Int
  private(set) var offset: Int64 = 0
  private(set) var number = 0
  private let descriptor: Int32
  private var decoder: TextDecoder
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// Whether the rest of a line that is too long must be skipped.
  private var isDropping = false

  private static let portion = 1 << 18

  init(_ descriptor: Int32, name: String, limit: Int = defaultLimit, decoder: TextDecoder = TextDecoder()) {
    self.descriptor = descriptor
    self.name = name
    self.limit = limit
    self.decoder = decoder
  }

  /// The name of the encoding, once it is known; nil for UTF-8.
  var encoding: String? { decoder.encoding }

  /// The description of bytes that are not valid in the encoding.
  var invalidText: String {
    let text = "not valid \(encoding ?? "UTF-8")"
    if encoding != nil, !decoder.isGuessing { return text }
    return text + "; if the file has another encoding, name it with --encoding"
      + (encoding == nil ? "" : ", for example --encoding CP932 for Japanese")
  }

  /// The start of the text, up to 256 KiB, which `next` returns again.
  mutating func firstBlock() throws(Failure) -> ArraySlice<UInt8> {
    while number == 0, buffer.isEmpty, try fill() {}
    return Self.withoutMark(buffer[start...])
  }

  /// Removes a byte order mark, which some editors write.
  private static func withoutMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
  }

  mutating func next() throws(Failure) -> SourceLine? {
    if isDropping { try dropRest() }
    var searched = start
    while true {
      if let end = System.firstLineFeed(in: buffer, from: searched) {
        defer { start = end + 1 }
        return line(buffer[start..<end])
      }
      if buffer.count - start > limit {
        isDropping = true
        return line(buffer[start...])
      }
      searched = buffer.count - start
      guard try fill() else {
        defer { start = buffer.count }
        return start < buffer.count ? line(buffer[start...]) : nil
      }
    }
  }

  private mutating func line(_ bytes: ArraySlice<UInt8>) -> SourceLine {
    number += 1
    if bytes.count > limit { return SourceLine(number: number, bytes: [], isTooLong: true) }
    return SourceLine(number: number, bytes: number == 1 ? Self.withoutMark(bytes) : bytes)
  }

  private mutating func dropRest() throws(Failure) {
    isDropping = false
    repeat {
      start = buffer.count
      guard try fill() else { return }
      start = System.firstLineFeed(in: buffer, from: 0).map { $0 + 1 } ?? buffer.count
    } while start == buffer.count && buffer.last != 0x0A
  }

  /// Moves the unread bytes to the front, and reads more after them.
  private mutating func fill() throws(Failure) -> Bool {
    if isAtEnd { return false }
    buffer.removeFirst(start)
    start = 0
    guard let bytes = System.read(descriptor, atMost: Self.portion) else {
      throw Failure(.noInput, "cannot read \(name): \(System.lastError)")
    }
    offset += Int64(bytes.count)
    isAtEnd = bytes.isEmpty
    let before = buffer.count
    do throws(Failure) { buffer += try decoder.decode(bytes) } catch {
      throw Failure(error.status, "\(name): \(error.message)", hint: error.hint)
    }
    return !isAtEnd || buffer.count > before
  }
}
