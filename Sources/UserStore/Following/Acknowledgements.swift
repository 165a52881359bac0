/// The acknowledgments that are not in the database yet, and when to write them: a value without a clock.
///
/// The first acknowledgment is written at once. Those that follow during the rest after it are written together at its end.
/// So the database is up to date for a consumer of few changes, and a consumer of many costs ten small commits a second.
struct Acknowledgements {
  static let rest = Duration.milliseconds(100)

  /// The latest acknowledgment that is not written yet.
  private(set) var pending: Cursor?
  /// The latest acknowledgment, written or not.
  private(set) var last: Cursor?
  /// Whether a write has started and the rest after it has not ended.
  private var isResting = false
  /// Changes whenever the position is moved to another place: conclusions from the position before are then invalid.
  private(set) var generation = 0

  /// Adds an acknowledgment, with a generation only if that is still the current one; returns whether the caller must write now.
  mutating func add(_ cursor: Cursor, in generation: Int? = nil) -> Bool {
    if let generation, generation != self.generation { return false }
    // A cursor of another log is later, because only cursors of the current log are acknowledged.
    let isLater = last.map { $0.epoch != cursor.epoch || $0.revision < cursor.revision } ?? true
    if isLater { (pending, last) = (cursor, cursor) }
    defer { isResting = true }
    return !isResting
  }

  mutating func written(_ cursor: Cursor?) {
    if pending == cursor { pending = nil }
  }

  /// Called before the position is moved to another place; returns the pending acknowledgment.
  mutating func discard() -> Cursor? {
    generation += 1
    defer { (pending, last) = (nil, nil) }
    return pending
  }

  /// Called after the position was moved to another place: it may have been read between `discard` and the commit.
  mutating func moved() { generation += 1 }

  /// Restores the acknowledgment that `discard` has returned, unless there is another one already.
  mutating func restore(_ cursor: Cursor) {
    if pending == nil { (pending, last) = (cursor, cursor) }
  }

  /// - Returns: Whether the caller must write the acknowledgments that came during the rest, and rest again.
  mutating func endRest() -> Bool {
    isResting = pending != nil
    return isResting
  }

  /// Ends the rest after a failed write: the next acknowledgment tries again, and throws if that fails too.
  mutating func fail() { isResting = false }
}
