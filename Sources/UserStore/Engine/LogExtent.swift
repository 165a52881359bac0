/// From where to where the log goes, and how large it is: what has to be known to forget a part of it.
struct LogExtent: Equatable {
  /// What stands at or before it is forgotten; its rows may still be there, and are deleted step by step.
  var horizon: Cursor
  /// The oldest row that is there; one more than the newest when there is none.
  ///
  /// From 1 on: a smaller one is somebody's who writes into the log by himself, and nobody reads it.
  var first: Int64
  /// The newest row; it is never deleted.
  var head: Int64
  /// The last row that was counted.
  var measured: Int64
  /// How large the rows after the horizon are, through that one.
  var bytes: Int64
  /// No row after the horizon, through this one, ends a set; the horizon when nothing is known.
  ///
  /// With `sized` and `size` it is how far the oldest set was looked through. A huge set takes many steps, each by a
  /// process that may do no more than one.
  var searched: Int64
  /// The last row of the oldest set that was counted; the horizon when none was.
  var sized: Int64
  /// How large the rows after the horizon are, through that one.
  var size: Int64
  /// How far the named consumer has come that is the furthest back, those aside whose cursor is compacted already.
  var consumer: Int64?

  /// What a row takes without its values.
  static let rowBytes: Int64 = 64

  /// More than any file can hold (sqlite.org/limits.html).
  private static let sizeLimit: Int64 = 1 << 48

  /// What the database holds of it, made plausible.
  ///
  /// - Parameters:
  ///   - horizon: Where the log begins.
  ///   - first: The oldest row that is there; nil when there is none.
  ///   - last: The newest row; nil when there is none.
  ///   - measured: The last row that was measured, and the size of the rows after the horizon through it.
  ///   - searched: No row after the horizon through this one ends a set.
  ///   - sized: As `measured`, for the oldest set.
  ///   - consumer: The position of the named consumer that is furthest behind.
  ///   - assumed: What a preview has compacted without deleting it.
  /// - Throws: `StoreError.Code.corrupt` for a log that cannot be.
  init(
    horizon: Cursor, first: Int64?, last: Int64?, measured: (last: Int64, bytes: Int64), searched: Int64,
    sized: (last: Int64, bytes: Int64), consumer: Int64?, assuming assumed: LogExtent?
  ) throws(StoreError) {
    let start = horizon.revision.rawValue
    let head = last ?? start
    try Revision.check(start)
    try Revision.check(head)
    guard start <= head else {
      throw StoreError(
        .corrupt, "the log of the database was tampered with: it begins after row \(start) and ends at \(head)")
    }
    // A program that deletes rows by other means does not count them. Numbers that cannot be count as unknown.
    func plausible(_ known: (last: Int64, bytes: Int64)) -> (last: Int64, bytes: Int64) {
      known.last > start && known.last <= head && (0...Self.sizeLimit).contains(known.bytes) ? known : (start, 0)
    }
    self.horizon = horizon
    self.head = head
    self.first = first ?? head + 1
    (self.measured, bytes) = plausible(measured)
    self.searched = plausible((searched, 0)).last
    (self.sized, size) = plausible(sized)
    self.consumer = consumer
    guard let assumed, assumed.horizon.epoch == horizon.epoch, assumed.horizon.revision >= horizon.revision else {
      return
    }
    (self.horizon, self.measured, bytes) = (assumed.horizon, assumed.measured, assumed.bytes)
    (self.searched, self.sized, size) = (assumed.searched, assumed.sized, assumed.size)
  }

  /// Whether nobody has forgotten or counted anything meanwhile.
  func isSame(as other: LogExtent) -> Bool {
    var other = other
    (other.head, other.consumer) = (head, consumer)
    return self == other
  }

  /// How large what stands after a set's end is; nil when the oldest set was not counted through that end.
  ///
  /// What was not counted at all is taken for nothing.
  func bytes(after end: Int64) -> Int64? {
    if end > measured { return 0 }
    return sized == end ? max(0, bytes - size) : nil
  }

  /// Moves the horizon to the end of a set that was counted.
  mutating func forget(through end: Cursor) {
    let last = end.revision.rawValue
    bytes = bytes(after: last) ?? 0
    measured = max(measured, last)
    searched = max(searched, last)
    (sized, size) = (last, 0)
    horizon = end
  }

  /// A row that was counted becomes smaller.
  mutating func shrink(_ sequence: Int64, by count: Int64) {
    guard sequence > horizon.revision.rawValue else { return }
    if sequence <= measured { bytes -= count }
    if sequence <= sized { size -= count }
  }
}
