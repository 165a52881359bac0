import TortureSupport

/// One writer's attempts as they are in the log.
struct Written {
  private var places: [Attempt.What: [Int64]] = [:]
  /// The numbers that the writer's user was set to, in the order of the log.
  private(set) var numbers: [Int64] = []

  init(_ history: History, _ record: Record) {
    for transaction in record.transactions where transaction.origin != "undo" {
      let rows = record.log.changes(after: transaction.rows.lowerBound - 1, through: transaction.rows.upperBound)
      let numbers = rows.compactMap { Self.number(in: $0, history) }
      for number in Set(numbers) { places[.number(number), default: []].append(transaction.rows.upperBound) }
      self.numbers += Set(numbers)
      for row in rows where row.op == 3 && row.attribute == "name" {
        places[.removal(row.user), default: []].append(transaction.rows.upperBound)
      }
    }
    let writes = Dictionary(record.transactions.map { ($0.rows.upperBound, $0) }) { $1 }
    for undo in record.transactions where undo.origin == "undo" {
      for case .undo(let revision) in history.attempts.map(\.what) where revision < undo.rows.lowerBound {
        guard let write = writes[revision], Self.isInverse(undo, of: write, record.log) else { continue }
        places[.undo(revision), default: []].append(undo.rows.upperBound)
      }
    }
  }

  /// The ends of the transactions that did it.
  subscript(_ what: Attempt.What) -> [Int64] { places[what] ?? [] }

  /// The number is in the new name of the writer's user, or in the name of a user that the writer added.
  private static func number(in row: LogCopy.Row, _ history: History) -> Int64? {
    guard row.attribute == "name", row.op == 2 && row.user == history.user || row.op == 1 else { return nil }
    return row.new.number(of: history.writer)
  }

  private static func isInverse(_ undo: Committed, of write: Committed, _ log: LogCopy) -> Bool {
    let undone = log.changes(after: undo.rows.lowerBound - 1, through: undo.rows.upperBound)
    let done = log.changes(after: write.rows.lowerBound - 1, through: write.rows.upperBound).reversed()
    return undone.count == done.count
      && zip(undone, done).allSatisfy { undone, done in
        (undone.user, undone.attribute) == (done.user, done.attribute)
          && (undone.old, undone.new) == (done.new, done.old)
      }
  }
}

/// Every acknowledged write is in the log, once, in the writer's order.
enum Acknowledged {
  static let text = "an acknowledged write is in the log, once"

  static func violations(in history: History, _ record: Record) -> [String] {
    let written = Written(history, record)
    var violations: [String] = []
    for attempt in history.attempts where attempt.outcome == .acknowledged {
      let count = written[attempt.what].count
      if count == 1 { continue }
      violations.append("\(history.writer): \(attempt.what) was acknowledged, and is in the log \(count) times")
    }
    for (number, next) in zip(written.numbers, written.numbers.dropFirst()) where next <= number {
      violations.append("\(history.writer), user \(history.user): number \(next) after \(number)")
    }
    return violations
  }
}

/// A writer that is killed leaves at most one transaction whose outcome is unknown.
///
/// The log has no transaction that was not to be committed, and none that was not attempted.
enum AtMostOneUnknown {
  static let text = "a killed writer leaves at most one unknown transaction; what it did not commit is not in the log"

  static func violations(in history: History, _ record: Record) -> [String] {
    let written = Written(history, record)
    var violations: [String] = []
    for attempt in history.attempts where attempt.outcome != .acknowledged {
      let count = written[attempt.what].count
      let limit = attempt.outcome == .unknown ? 1 : 0
      if count <= limit { continue }
      violations.append("\(history.writer): \(attempt.what) is \(attempt.outcome), and is in the log \(count) times")
    }
    let attempted = Set(history.attempts.map(\.what))
    for number in written.numbers where !attempted.contains(.number(number)) {
      violations.append("\(history.writer), user \(history.user): number \(number) is in the log, but was not written")
    }
    return violations
  }
}
