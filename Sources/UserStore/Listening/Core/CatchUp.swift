/// Keeps a state that was read from the store up to date: decides which of the later rounds it needs, and which part of them.
///
///     register ─▶ read at `through` ─▶ the rounds that came meanwhile ─▶ each next round
///                  ▲                                                      │
///                  └──── a discontinuity, or an error before ─────────────┘
///
/// A value without locks; its owner keeps the state, and protects both. Register before you read: then no round is missed, and
/// what comes twice is dropped here.
struct CatchUp<Round: Positioned>: Sendable {
  /// The last round that the state includes, or the place within a round at which the state was read.
  private(set) var through = Int128.min
  /// The rounds that came while the state was read; nil if it is not being read.
  private var waiting: [Round]? = []
  /// Whether the last read failed, so that the state must be read again.
  private(set) var isStale = false

  /// Returns the part of a round that the state lacks; nil if it lacks nothing, or if the round waits until the state
  /// was read.
  mutating func receive(_ round: Round) -> Round? {
    waiting?.append(round)
    return waiting == nil ? round.dropping(through: through) : nil
  }

  /// Makes rounds wait from now on, because the state is being read again.
  mutating func beginReading() { waiting = waiting ?? [] }

  /// Records where the state was read, or up to which round it was changed since.
  mutating func advance(through position: Int128) {
    through = position
    isStale = false
  }

  /// Returns what the state needs of the rounds that came while it was read; nil if it needs nothing, and rounds wait no more.
  ///
  /// If there are rounds, change the state, advance, and call this again.
  mutating func next() -> [Round]? {
    while let rounds = waiting, !rounds.isEmpty {
      waiting = []
      let needed = rounds.compactMap { $0.dropping(through: through) }
      if !needed.isEmpty { return needed }
    }
    waiting = nil
    return nil
  }

  /// Records that the state could not be read: it is read again at the next round.
  mutating func fail() {
    isStale = true
    waiting = nil
  }
}
