/// What must be true of the files after a cut, in the order in which it is looked at.
enum Promise: String, CaseIterable {
  case opens = "the store opens: as it was, or, before it was first opened, as a new one"
  case isSound = "the file is sound: integrity_check, and the library's own check, find nothing"
  case isWhole = "the log ends where a set ends, and has no gap"
  case losesNothing = "what was acknowledged, or told to a listener, is there"
  case keepsTheRest = "what is lost is the end: everything before it is there"
  case hasNothingElse = "nothing is there that was not begun"
  case isSame = "every change is there as it was told"
  case replays = "the tables are what the log tells"
  case resumes = "a cursor goes on right after itself, with the sets that came after it"
  case diverges = "a cursor of something that was lost diverges, also when its numbers were given again"
  case covers = "a consumer's position is what it acknowledged, together with its effects"
  case saves = "a saved cursor file is whole, and not older than what was saved"
  case backsUp = "what has a backup's name is a whole backup"
  case compacts = "what was forgotten stays forgotten"
  case purges = "what was purged is in no file and in no change"
}

/// What was found in one image.
struct Verdict {
  /// Which sets are not there, of those that were told.
  var lost = 0
  /// How many cursors diverged, as they must.
  var diverged = 0
  var violations: [(promise: Promise, reason: String)] = []

  mutating func expect(_ isSo: Bool, _ promise: Promise, _ reason: @autoclosure () -> String) {
    if !isSo { violations.append((promise, reason())) }
  }
}
