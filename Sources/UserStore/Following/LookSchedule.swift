// Modeled in Proof/Model/WakeUp.pml; change both.

/// When a watcher looks at the log next: a value without clocks, in microseconds.
///
/// An event on the -wal file comes before the commit is visible (the index of the log is mapped memory and raises none),
/// so one look for an event finds nothing: under `synchronous=FULL` in 404 of 405 cases. Looks are repeated for a
/// while, unless the writer gave a signal, which ours do when their commit is visible.
struct LookSchedule: Sendable {
  /// The slow look that is the guarantee: events only make it fast.
  ///
  /// Twice a second.
  static let idle = 500_000
  private static let first = 50
  private static let longest = 5_000
  private static let patience = 100_000
  /// Without events: the longest pause, four looks a second.
  private static let idlePoll = 250_000
  private static let firstPoll = 1_000

  /// The shortest and the longest rest under own load.
  private static let rests = 125...1_000

  private let hasEvents: Bool
  /// The next pause, and how much longer looks are repeated.
  private var pause: Int
  private var patience = 0
  private var rest = Self.rests.lowerBound
  /// Whether the last look came after a write of our own, and found nothing else.
  private var hasWritten = false
  /// Whether the last rest was one of a load that lasts: then a look comes by the clock, and events are not wanted.
  private(set) var isUnderLoad = false

  init(hasEvents: Bool) {
    self.hasEvents = hasEvents
    pause = hasEvents ? Self.idle : Self.firstPoll
  }

  /// How long to wait for an event now.
  var wait: Int { pause }

  /// Somebody wrote, and what was written may not be visible yet.
  mutating func written() {
    patience = Self.patience
    pause = Self.first
  }

  /// How long to do nothing at all, events or not, after a look: nil to go on.
  ///
  /// Each of our own writes is an event too, and a look for each would cost the writer a third of its time. While it writes
  /// without end there is a look every millisecond: the writer itself reads what others commit between its own.
  /// One own write since the last look is no load yet: it may be an answer to another process, whose next word is awaited.
  ///
  /// - Parameters:
  ///   - ownCommits: How many there were since the last look.
  ///   - found: Whether this one found what others wrote.
  /// - Returns: the rest; after it there is always another look.
  mutating func rest(ownCommits: Int, found: Bool) -> Int? {
    let isAnswer = ownCommits == 1 && (found || !hasWritten)
    hasWritten = ownCommits > 0 && !found
    guard hasEvents, ownCommits > 0, !isAnswer else {
      rest = Self.rests.lowerBound
      isUnderLoad = false
      return nil
    }
    isUnderLoad = rest == Self.rests.upperBound
    defer { rest = min(rest * 2, Self.rests.upperBound) }
    return rest
  }

  /// A look found something, or nothing.
  mutating func looked(found: Bool) {
    if !hasEvents {
      pause = found ? Self.firstPoll : min(pause * 2, Self.idlePoll)
    } else if patience > 0 {
      patience -= pause
      pause = min(pause * 2, Self.longest)
    }
    if hasEvents, patience <= 0 { pause = Self.idle }
  }
}
