/// How long the server may still say nothing while a reply is due.
///
/// After half of the limit, it is time to ask about the reply (`PostgresConnection.askAboutReply`). If the server works on it,
/// the time starts again, and so it does whenever something is received or sent.
struct Silence {
  private let limit: Duration?
  private let asks: Bool
  private var question: ContinuousClock.Instant?
  private var end: ContinuousClock.Instant?

  /// Starts the time, which does not end if `limit` is nil.
  ///
  /// Without `asks`, nothing is asked. `firstQuestion` is when to ask for the first time, if that is sooner than half of the
  /// limit.
  init(_ limit: Duration?, asks: Bool, firstQuestion: Duration? = nil) {
    (self.limit, self.asks) = (limit, asks)
    restart()
    if asks, let first = firstQuestion.map({ ContinuousClock.now + $0 }) { question = min(question ?? first, first) }
  }

  /// When to ask, or when the time ends; nil for never.
  var next: ContinuousClock.Instant? { question ?? end }

  /// Whether `next` is when to ask.
  var isQuestionDue: Bool { question != nil }

  /// Notes that the question was asked and the answer was no: the time goes on, and nothing is asked any more.
  mutating func isUnanswered() { question = nil }

  mutating func restart() {
    let now = ContinuousClock.now
    question = asks ? limit.map { now + $0 / 2 } : nil
    end = limit.map { now + $0 }
  }
}
