extension LogOperations {
  /// When a row was written, in milliseconds since 1970, at most `now`.
  ///
  /// A row from the future was written with a wrong clock. It is not younger than the rows after it, so the time of the next row
  /// that is not from the future counts. The search for that row doubles its distance, and then halves the rest: it reads some
  /// dozens of rows, however many are wrong. Only times from the future are replaced: if the oldest time after a row counted, one
  /// write with a clock that starts in 1970 would make the whole log before it old.
  func time(of sequence: Int64, before head: Int64, at now: Int64) throws(StoreError) -> Int64 {
    guard let own = try time(of: sequence) else { return .min }
    if own <= now { return own }
    var (wrong, right): (Int64, (row: Int64, time: Int64)?) = (sequence, nil)
    var distance: Int64 = 1
    while right == nil, sequence + distance < head {
      right = try written(sequence + distance, by: now)
      if right == nil { wrong = sequence + distance }
      distance *= 2
    }
    // The newest rows may be from the future too.
    distance = 1
    while right == nil, head - distance + 1 > wrong {
      right = try written(head - distance + 1, by: now)
      distance *= 2
    }
    while let known = right, known.row - wrong > 1 {
      let middle = wrong + (known.row - wrong) / 2
      if let earlier = try written(middle, by: now) { right = earlier } else { wrong = middle }
    }
    return right?.time ?? now
  }

  private func time(of row: Int64) throws(StoreError) -> Int64? {
    try rows(after: row - 1, through: row).first?.change.timestamp
  }

  /// The row and its time; nil if it is from the future, or missing.
  private func written(_ row: Int64, by now: Int64) throws(StoreError) -> (row: Int64, time: Int64)? {
    guard let time = try time(of: row), time <= now else { return nil }
    return (row, time)
  }
}
