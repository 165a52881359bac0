// Modeled in Proof/Model/WakeUp.pml; change both.

/// When the watcher looks at the log next: a value without a clock; all times are in microseconds.
///
/// The event on the -wal file arrives before the commit is visible: the index of the log is mapped memory, whose changes cause
/// no events. So the first look after an event finds nothing, under `synchronous=FULL` in 404 of 405 cases. Looks are repeated
/// for a while, unless the writer sent a signal, as this library does when its commit is visible.
struct LookSchedule: Sendable {
  /// After an event, the first and the longest pause between looks, and for how long looks are repeated.
  private static let first = 50
  private static let longest = 5_000
  private static let patience = 100_000
  /// If the system reports no events, the first and the longest pause: four looks a second.
  private static let firstPoll = 1_000
  private static let idlePoll = 250_000
  /// The shortest and the longest rest while this store writes.
  private static let rests = 125...1_000

  let hasEvents: Bool
  /// The pause without events: these looks guarantee delivery, events only make it fast.
  private let idle: Int
  /// How long to wait for an event before the next look.
  private(set) var wait: Int
  /// For how much longer looks are repeated; at first too, for a write that began before there were events.
  private var patience = Self.patience
  private var rest = Self.rests.lowerBound
  /// Whether the last look followed a write of our own and found nothing of others.
  private var hasWritten = false
  /// Whether the longest rest has been reached: then looks follow the clock, and events are not needed.
  private(set) var isUnderLoad = false

  init(hasEvents: Bool, idle: Int) {
    self.hasEvents = hasEvents
    self.idle = idle
    // Not sooner: most stores that are opened for one operation are closed by then, and need no look.
    wait = hasEvents ? Self.longest : Self.firstPoll
  }

  /// Called for a write that may not be visible yet.
  mutating func written() {
    patience = Self.patience
    wait = Self.first
  }

  /// Returns how long to rest after a look, regardless of events, before another look; nil for no rest.
  ///
  /// Each of our own writes is an event too, and a look for each would cost the writer a third of its time. During continuous
  /// writes, there is a look every millisecond: the writer itself reads what others commit between its own commits.
  /// A single own commit since the last look is not a load: it may answer another process, which may answer in turn.
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

  mutating func looked(found: Bool) {
    if !hasEvents {
      wait = found ? Self.firstPoll : min(wait * 2, Self.idlePoll)
    } else if patience > 0 {
      patience -= wait
      wait = min(wait * 2, Self.longest)
    }
    if hasEvents, patience <= 0 { wait = idle }
  }
}
