/// Collects texts of JSON until they are enough for one part of a response.
struct Parts {
  private static let countLimit = 1_000
  private static let byteLimit = 1 << 20

  /// The texts of the last part, which no other one follows.
  private(set) var last: [String] = []
  private var bytes = 0

  /// Adds a text; returns the part that was full before it.
  mutating func add(_ json: String) -> [String]? {
    let isFull = last.count == Self.countLimit || bytes + json.utf8.count > Self.byteLimit
    let full = isFull && !last.isEmpty ? last : nil
    if full != nil { (last, bytes) = ([], 0) }
    last.append(json)
    bytes += json.utf8.count
    return full
  }
}
