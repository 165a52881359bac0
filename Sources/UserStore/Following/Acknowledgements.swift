/// What a consumer has acknowledged and the database does not know yet, and when it is to: a value without clocks.
///
/// The first acknowledgement is written at once. Then comes a rest, and after it what was acknowledged meanwhile, if
/// anything was: a consumer of few changes is always up to date on disk, one of many costs ten small commits a second.
struct Acknowledgements {
  /// How long after a write the next one may begin.
  static let rest = Duration.milliseconds(100)

  /// What is not written yet; the latest of them.
  private(set) var pending: Cursor?
  /// Whether a write is under way, or was a moment ago.
  private var isResting = false

  /// Adds an acknowledgement.
  ///
  /// - Returns: whether the caller is to write now.
  mutating func add(_ cursor: Cursor) -> Bool {
    pending = pending.map { $0.isBefore(cursor) ? cursor : $0 } ?? cursor
    defer { isResting = true }
    return !isResting
  }

  /// It is in the database, or one after it.
  mutating func written(_ cursor: Cursor) {
    if pending == cursor { pending = nil }
  }

  /// Nothing that was acknowledged counts any more.
  mutating func forget() {
    pending = nil
  }

  /// The rest is over.
  ///
  /// - Returns: whether the caller is to write what came meanwhile, and to rest again.
  mutating func endRest() -> Bool {
    isResting = pending != nil
    return isResting
  }

  /// A write failed: the next acknowledgement tries again, and hears why if it fails too.
  mutating func fail() {
    isResting = false
  }
}

extension UserStore.Cursor {
  /// Whether the other one moves a consumer on: it comes later, or is of another log, which then is the present one.
  fileprivate func isBefore(_ other: Cursor) -> Bool {
    epoch != other.epoch || revision < other.revision
  }
}
