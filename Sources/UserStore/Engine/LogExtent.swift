/// Where the log starts and ends, and its size: the numbers from which a compaction decides what to delete.
package struct LogExtent: Equatable {
  /// The start of the log: rows through it are compacted, and deleted step by step, so that some may still exist.
  package var horizon: Cursor
  /// The oldest existing row, or the one after `head`.
  ///
  /// At least 1: readers ignore rows with smaller numbers, which only another program can insert.
  var first: Int64
  /// The newest row, which is never deleted.
  var head: Int64
  /// The last row whose size was counted.
  package var measured: Int64
  /// The size of the rows after `horizon`, through `measured`.
  package var bytes: Int64
  /// The last row through which no write ends after `horizon`; `horizon` if nothing was searched.
  ///
  /// Together with `sized` and `size`, it records how far the oldest set was read. A huge set takes many steps, each possibly in
  /// another process.
  package var searched: Int64
  /// The last row of the oldest set whose size was counted; `horizon` if there is none.
  package var sized: Int64
  /// The size of the rows after `horizon`, through `sized`.
  package var size: Int64
  /// The position of the named consumer that is furthest behind, except for consumers whose position is compacted already.
  var consumer: Int64?
  /// The first row that a replica needs for writes of the application: it and later ones are kept, whatever a policy says.
  var held: Int64?

  /// The size of a row without its values.
  package static let rowBytes: Int64 = 64
  /// The size of a number, however few bytes it takes in a file.
  static let numberBytes: Int64 = 8

  /// More than any file can hold (sqlite.org/limits.html).
  private static let sizeLimit: Int64 = 1 << 48

  /// Creates an extent from the numbers in the database, and from the changes that a preview has compacted without
  /// deleting them.
  ///
  /// Counts that cannot be right are treated as unknown: other programs that delete rows do not update them.
  package init(
    horizon: Cursor, first: Int64?, last: Int64?, measured: (last: Int64, bytes: Int64), searched: Int64,
    sized: (last: Int64, bytes: Int64), consumer: Int64?, assuming assumed: LogExtent?
  ) throws(StoreError) {
    let start = horizon.revision.rawValue
    let head = last ?? start
    try Revision.check(start)
    try Revision.check(head)
    guard start <= head else {
      throw StoreError(.corrupt, "the log is malformed: it starts after revision \(start) and ends at \(head)")
    }
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

  /// The last row before those that a replica needs.
  var lastFree: Int64 { (held ?? .max) - 1 }

  /// Whether neither was compacted or counted further than the other.
  func isSame(as other: LogExtent) -> Bool {
    var other = other
    (other.head, other.consumer, other.held) = (head, consumer, held)
    return self == other
  }

  /// The size of the rows after the end of a set, without rows that were not counted; nil if the oldest set was not counted
  /// through that end.
  func bytes(after end: Int64) -> Int64? {
    if end > measured { return 0 }
    return sized == end ? max(0, bytes - size) : nil
  }

  /// Moves the start of the log to the end of a set that was counted.
  mutating func compact(through end: Cursor) {
    let last = end.revision.rawValue
    bytes = bytes(after: last) ?? 0
    measured = max(measured, last)
    searched = max(searched, last)
    (sized, size) = (last, 0)
    horizon = end
  }

  /// Subtracts the bytes that a row lost from the counts.
  mutating func shrink(_ sequence: Int64, by count: Int64) {
    guard sequence > horizon.revision.rawValue else { return }
    if sequence <= measured { bytes -= count }
    if sequence <= sized { size -= count }
  }
}
