import UserStore

/// Collects JSON texts into parts of a response.
struct Parts {
  fileprivate static let countLimit = 1_000
  fileprivate static let byteLimit = 1 << 20

  /// The texts of the last part.
  private(set) var last: [String] = []
  private var bytes = 0

  /// Adds a text; returns the previous part if it was full.
  mutating func add(_ json: String) -> [String]? {
    let isFull = last.count == Self.countLimit || bytes + json.utf8.count > Self.byteLimit
    let full = isFull && !last.isEmpty ? last : nil
    if full != nil { (last, bytes) = ([], 0) }
    last.append(json)
    bytes += json.utf8.count
    return full
  }
}

/// The first changes of a set that pass the filter, enough for one part of a response.
struct ChangePart {
  /// The changes as lines of JSON; the set's last one has its cursor.
  private(set) var texts: [String] = []
  /// The time of the last change.
  private(set) var time: Int64 = 0
  /// The first change of the next part; nil if this is the last part.
  private(set) var next: Int64?

  /// Renders changes until the part is full; the rest of a huge set is not read.
  init(of set: UserStore.ChangeSet, _ filter: inout ChangeFilter) async throws {
    try await filter.take(set)
    defer { filter.isUnfinished = next != nil }
    let shown = filter
    var (bytes, last) = (0, UserStore.Entry?.none)
    try await set.iterateEntries { entry in
      guard shown.accepts(entry) else { return true }
      if texts.count == Parts.countLimit || bytes >= Parts.byteLimit {
        next = entry.sequence
        return false
      }
      let text = entry.json(in: set, isLast: false)
      texts.append(text)
      bytes += text.utf8.count
      last = entry
      return true
    }
    guard let last else { return }
    time = last.timestamp
    if next == nil { texts[texts.count - 1] = last.json(in: set, isLast: true) }
  }
}
