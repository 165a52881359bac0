/// When rows of the log were written.
enum LogTime {
  /// When a row was written, as far as that can be known.
  ///
  /// A row from the future was written by a clock that stood wrong, and says nothing. It is not younger than what follows
  /// it, so the next row counts that is not from the future. That one is looked for at growing distances, and then between
  /// the last two places: some dozens of rows are read, however many wrong ones there are. Only times from the future are
  /// judged like this: were the oldest time after a row to count, one write by a clock that begins in 1970 would make the
  /// whole log before it old.
  ///
  /// - Parameters:
  ///   - sequence: The row.
  ///   - head: The newest one.
  ///   - now: In milliseconds since 1970.
  ///   - session: With a transaction open.
  /// - Returns: the time in milliseconds since 1970, at most `now`.
  /// - Throws: what reading can throw.
  static func time(
    of sequence: Int64, before head: Int64, at now: Int64, _ session: any Session
  ) throws(StoreError) -> Int64 {
    guard let own = try session.time(of: sequence) else { return .min }
    if own <= now { return own }
    var (wrong, right): (Int64, (row: Int64, time: Int64)?) = (sequence, nil)
    var distance: Int64 = 1
    while right == nil, sequence + distance < head {
      right = try written(sequence + distance, by: now, session)
      if right == nil { wrong = sequence + distance }
      distance *= 2
    }
    // The newest rows may be from the future too.
    distance = 1
    while right == nil, head - distance + 1 > wrong {
      right = try written(head - distance + 1, by: now, session)
      distance *= 2
    }
    while let known = right, known.row - wrong > 1 {
      let middle = wrong + (known.row - wrong) / 2
      if let earlier = try written(middle, by: now, session) { right = earlier } else { wrong = middle }
    }
    return right?.time ?? now
  }

  /// - Returns: nil for a row from the future, and for one that is missing.
  private static func written(
    _ row: Int64, by now: Int64, _ session: any Session
  ) throws(StoreError) -> (row: Int64, time: Int64)? {
    guard let time = try session.time(of: row), time <= now else { return nil }
    return (row, time)
  }
}
