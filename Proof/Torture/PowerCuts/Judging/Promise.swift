/// What must hold for the files after a cut, in the order in which it is checked.
enum Promise: String, CaseIterable {
  case opens = "the store opens, as a new one if it was never opened before"
  case isSound = "the file is sound: integrity_check and the library's check find nothing"
  case isWhole = "the log ends where a set ends, and has no gap"
  case losesNothing = "every write that was acknowledged or delivered is in the log"
  case keepsTheRest = "only the end of the log is lost"
  case hasNothingElse = "the log has no write that was not begun"
  case isSame = "every change in the log equals the one that was delivered"
  case replays = "a replay of the log gives the tables"
  case resumes = "a cursor resumes right after its set, with the sets that follow it"
  case diverges = "a cursor of a lost set diverges, even if its revision was reused"
  case covers = "a consumer's position is one that it acknowledged, together with its effects"
  case saves = "a saved cursor file is complete, and not older than announced"
  case backsUp = "a file with a backup's name is a complete backup"
  case compacts = "sets that were deleted from the log stay deleted"
  case purges = "purged values are in no file and in no change, and a note in the log says so"
}

/// The findings in one image.
struct Verdict {
  /// How many sets were delivered but are not in the log.
  var lost = 0
  /// How many cursors diverged, correctly.
  var diverged = 0
  var violations: [(promise: Promise, reason: String)] = []

  mutating func expect(_ isSo: Bool, _ promise: Promise, _ reason: @autoclosure () -> String) {
    if !isSo { violations.append((promise, reason())) }
  }
}
