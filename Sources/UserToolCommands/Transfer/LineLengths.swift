/// Measures lines as they arrive, so that an endless line neither fills the disk nor blocks the import.
struct LineLengths {
  private let limit: Int
  /// The length of the last, incomplete line.
  private var length = 0
  /// Whether any line was longer than the limit.
  private(set) var hasTooLong = false

  init(limit: Int) {
    self.limit = limit
  }

  /// Measures the next piece, and returns it without the bytes that continue a line that is already too long.
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
