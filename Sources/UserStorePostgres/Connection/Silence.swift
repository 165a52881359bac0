/// The time for which the server may be silent while a reply is due.
///
/// After half of the limit, the connection asks about the reply (`PostgresConnection.askAboutReply`). The time restarts if the
/// server is working on the reply, and whenever something is sent or received.
struct Silence {
  private let limit: Duration?
  private let asks: Bool
  private var question: ContinuousClock.Instant?
  private var end: ContinuousClock.Instant?

  /// Starts the time, which has no end if `limit` is nil.
  ///
  /// Without `asks`, there are no questions. `firstQuestion` is the time until the first question if it is less than half of the
  /// limit.
  init(_ limit: Duration?, asks: Bool, firstQuestion: Duration? = nil) {
    (self.limit, self.asks) = (limit, asks)
    restart()
    if asks, let first = firstQuestion.map({ ContinuousClock.now + $0 }) { question = min(question ?? first, first) }
  }

  /// The time of the next question, or of the end; nil for never.
  var next: ContinuousClock.Instant? { question ?? end }

  var isQuestionDue: Bool { question != nil }

  /// Notes that the server is not working on the reply: the time continues, without further questions.
  mutating func isUnanswered() { question = nil }

  mutating func restart() {
    let now = ContinuousClock.now
    question = asks ? limit.map { now + $0 / 2 } : nil
    end = limit.map { now + $0 }
  }
}
