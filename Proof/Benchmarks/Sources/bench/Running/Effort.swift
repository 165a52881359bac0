/// How long is measured.
struct Effort {
  let isQuick: Bool

  /// Rounds, in each of which every contender of a case has its turn.
  var rounds: Int { isQuick ? 5 : 15 }
  /// How long a turn is meant to take.
  var turn: Duration { isQuick ? .milliseconds(30) : .milliseconds(150) }
  /// Events a turn whose latencies are measured one by one.
  var events: Int { isQuick ? 100 : 400 }

  /// One of two sizes.
  func size<Size>(quick: Size, full: Size) -> Size { isQuick ? quick : full }
}
