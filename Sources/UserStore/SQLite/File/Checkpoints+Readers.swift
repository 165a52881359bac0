/// Readers that take turns without a pause.
///
/// SQLite begins the -wal file anew with the first commit that finds all of it copied, and nobody who reads from it. While
/// there is always one reader who began a commit or two ago, neither comes to pass, and the file grows without end. But
/// whoever begins to read while nothing is written and all is copied reads from the database alone. So with the write lock
/// held those who read from the file become fewer: first those who keep pages from being copied, then those who
/// began before all was copied.
///
/// Of the second only a commit tells whether they have gone: the next write, whoever makes it, is left to find out. (A
/// checkpoint that restarts the file would wait for them by itself, but is one without the write lock when it does
/// not get that.)
extension Checkpoints {
  /// Pages in the -wal file from which on readers are waited for.
  static let waitingLimit = 4 * pageLimit
  static let firstRest = Duration.milliseconds(1)

  /// Copies until all is copied, and then rests; the caller holds the write lock.
  func outwaitReaders(_ session: SQLiteSession) -> (pages: Int, copied: Int)? {
    let start = ContinuousClock.now
    var result = try? session.connection.checkpoint()
    let before = result?.copied
    while !isWhole(result), ContinuousClock.now < start + patience {
      // Nothing reports when a reader ends: only the next attempt shows it.
      SystemThread.sleep(milliseconds: 1)
      result = try? session.connection.checkpoint()
    }
    if isWhole(result) {
      rest(after: ContinuousClock.now - start)
    } else {
      // Where nothing moved somebody reads for a long time: writers are not kept waiting for him again and again.
      giveUp(isHeld: result?.copied == before)
    }
    return result
  }

  private func isWhole(_ result: (pages: Int, copied: Int)?) -> Bool {
    if let result { result.copied == result.pages } else { false }
  }

  /// Lets those end who began before all was copied: for as long as the others took, and each time twice as long.
  private func rest(after waited: Duration) {
    let rest = state.withLock { state in
      // The next write, unless it begins the file anew, is followed by the next attempt.
      state.dueAt = state.walPages + 1
      defer { state.rest *= 2 }
      return min(max(state.rest, waited), patience - waited)
    }
    // As above; and here not even an attempt would show it, only the next commit does.
    SystemThread.sleep(microseconds: max(0, Int(rest / .microseconds(1))))
    if state.withLock({ $0.rest > patience }) { giveUp(isHeld: false) }
  }

  /// Until the file is twice as long, or for one limit.
  private func giveUp(isHeld: Bool) {
    state.withLock { state in
      // A further attempt has only the last commit's pages to copy: that none was tells nothing.
      let isHeld = isHeld && state.rest == Self.firstRest
      state.waitsAt = isHeld ? state.walPages * 2 : state.walPages + Self.pageLimit
      state.rest = Self.firstRest
    }
  }
}
