/// The extent of the measurements.
struct Effort {
  let isQuick: Bool

  /// The number of rounds, in each of which every contender of a case has a turn.
  var rounds: Int { isQuick ? 5 : 15 }
  /// The approximate duration of a turn.
  var turn: Duration { isQuick ? .milliseconds(30) : .milliseconds(150) }
  /// The number of events in a turn whose latencies are measured one by one.
  var events: Int { isQuick ? 100 : 400 }

  /// One of two sizes.
  func size<Size>(quick: Size, full: Size) -> Size { isQuick ? quick : full }
}
