/// Measures lines as they come, so that one without an end neither fills a disk nor is waited for.
struct LineLengths {
  private let limit: Int
  /// Of the line that the last piece ended in.
  private var length = 0
  /// Whether any line was longer than the limit.
  private(set) var hasTooLong = false

  init(limit: Int) {
    self.limit = limit
  }

  /// Takes the next piece.
  ///
  /// - Returns: it without what belongs to a line that is too long already, and stays too long without it.
  mutating func admit(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let start = length > limit ? System.firstLineFeed(in: bytes, from: 0) ?? bytes.count : 0
    var position = 0
    while let end = System.firstLineFeed(in: bytes, from: position) {
      add(end - position)
      length = 0
      position = end + 1
    }
    add(bytes.count - position)
    return bytes[start...]
  }

  private mutating func add(_ count: Int) {
    length += count
    if length > limit { hasTooLong = true }
  }
}
