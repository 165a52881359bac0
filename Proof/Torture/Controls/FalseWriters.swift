import TortureSupport

/// The output of writers, listeners, and the counter, and the log itself, falsified.
enum FalseWriters {
  static func run(on evidence: Evidence, _ random: inout SplitMix64, _ report: inout Report) {
    let record = evidence.record
    report.control(
      "an acknowledged commit is lost",
      wasFlagged: evidence.histories.allSatisfy {
        judge($0, changing: .abandoned, to: .acknowledged, by: Acknowledged.violations, record, &random)
      })
    report.control(
      "a transaction that was rolled back is in the log",
      wasFlagged: evidence.histories.allSatisfy {
        judge($0, changing: .acknowledged, to: .abandoned, by: AtMostOneUnknown.violations, record, &random)
      })
    falsifyListeners(evidence, &random, &report)
    let falsified = evidence.counter.counted + [record.log.end + 1]
    report.control(
      "an announced set is not in the sum",
      wasFlagged: !ExactlyOnce.violations(of: evidence.counter.user, counted: falsified, record).isEmpty)
    falsifyLog(evidence, &report)
  }

  /// Whether a false outcome of an attempt is flagged.
  ///
  /// Returns true if the writer has no attempt with that outcome.
  private static func judge(
    _ history: History, changing outcome: Attempt.Outcome, to other: Attempt.Outcome,
    by violations: (History, Record) -> [String], _ record: Record, _ random: inout SplitMix64
  ) -> Bool {
    let ended = history.attempts.indices.filter { history.attempts[$0].outcome == outcome }
    guard let index = ended.randomElement(using: &random) else { return true }
    var history = history
    history.attempts[index] = Attempt(what: history.attempts[index].what, outcome: other)
    return !violations(history, record).isEmpty
  }

  private static func falsifyListeners(_ evidence: Evidence, _ random: inout SplitMix64, _ report: inout Report) {
    func isFlagged(_ falsify: (inout [EmbedderLife.Event]) -> Void) -> Bool {
      guard var life = evidence.embedder.lives.max(by: { $0.events.count < $1.events.count }) else { return false }
      falsify(&life.events)
      return !DeliveredBeforeReturn.violations(in: life, of: evidence.embedder.histories, evidence.record).isEmpty
    }
    func lastReceived(_ events: [EmbedderLife.Event]) -> Int? {
      events.lastIndex { if case .received = $0 { true } else { false } }
    }
    report.control(
      "a listener receives a set twice",
      wasFlagged: isFlagged { events in lastReceived(events).map { events.insert(events[$0], at: $0) } })
    report.control(
      "a write returns before its listeners are called",
      wasFlagged: isFlagged { events in
        events.removeAll { if case .received = $0 { true } else { false } }
      })
    report.control(
      "a listener receives a set that is not committed",
      wasFlagged: isFlagged { $0.append(.received(revision: evidence.record.log.end + 1, changes: 1)) })
  }

  /// Replaces one value in the log.
  private static func falsifyLog(_ evidence: Evidence, _ report: inout Report) {
    let record = evidence.record
    guard let row = record.log.rows.last(where: { $0.attribute == "counted" }) else {
      return report.control("the counter counts a set twice", wasFlagged: false, "it counted nothing")
    }
    let log = record.log.replacing(row.seq, new: .integer(.max))
    let other = Record(
      log, foreignUsers: record.foreignUsers, numberedUsers: record.numberedUsers, horizon: record.horizon)
    report.control(
      "the counter counts a set twice",
      wasFlagged: !ExactlyOnce.violations(of: evidence.counter.user, counted: [], other).isEmpty)
    let replayed = try? Snapshots.replica(at: log.end, log).users
    let right = try? Snapshots.replica(at: log.end, record.log).users
    report.control("a value in the log differs from the tables", wasFlagged: replayed != right)
  }
}
