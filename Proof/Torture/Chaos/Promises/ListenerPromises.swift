import TortureSupport

/// A listener inside a writing process hears what is committed, in order, each set once, and before the write returns.
enum HeardBeforeReturn {
  static let text = "a listener hears only what is committed, in order, once, and before the write returns"

  static func violations(in life: EmbedderLife, of histories: [History], _ record: Record) -> [String] {
    var violations: [String] = []
    var heard: [Int64] = []
    let ends = Ends(histories, record)
    for event in life.events {
      switch event {
      case .heard(let revision, let changes):
        violations += violation(in: revision, changes, after: heard.last, record).map { [$0] } ?? []
        heard.append(revision)
      case .acknowledged(let user, let number):
        guard let revision = ends[user, number] else { continue }
        // The first one may have been delivered together with what others wrote before it, but never later.
        if heard.contains(revision) { continue }
        violations.append("number \(number) of user \(user) was returned before it was heard")
      }
    }
    return violations
  }

  private static func violation(in revision: Int64, _ changes: Int, after last: Int64?, _ record: Record) -> String? {
    guard record.log.has(revision) else { return "heard revision \(revision), which the log lacks" }
    guard let last else { return nil }
    if revision <= last { return "heard revision \(revision) after \(last)" }
    let count = record.log.changes(after: last, through: revision).count
    return count == changes ? nil : "heard \(changes) changes between \(last) and \(revision), where there are \(count)"
  }

  /// Where the log has the writes.
  private struct Ends {
    private var writers: [Int64: Written] = [:]

    init(_ histories: [History], _ record: Record) {
      for history in histories { writers[history.user] = Written(history, record) }
    }

    subscript(_ user: Int64, _ number: Int64) -> Int64? { writers[user]?[.number(number)].first }
  }
}

/// A consumer whose effects are written with its position has each set's effect exactly once.
enum ExactlyOnce {
  static let text = "a consumer that writes with its position counts each change exactly once"

  static func violations(of user: Int64, counted: [Int64], _ record: Record) -> [String] {
    var violations: [String] = []
    var through: Int64 = 0
    var sets: Set<Int64> = []
    for transaction in record.transactions where transaction.origin == "counter" {
      let rows = record.log.changes(after: transaction.rows.lowerBound - 1, through: transaction.rows.upperBound)
      guard let sum = rows.last(where: { $0.attribute == "counted" }), sum.user == user,
        let end = rows.last(where: { $0.attribute == "through" }), case .integer(let next) = end.new
      else {
        violations.append("the counter wrote something else in \(transaction.rows)")
        continue
      }
      let expected = others(after: through, through: next, record)
      if next <= through || sum.new.integer - sum.old.integer != expected {
        violations.append("of \(expected) changes after \(through) and through \(next): \(sum.old) → \(sum.new)")
      }
      through = next
      sets.insert(next)
    }
    return violations + counted.filter { !sets.contains($0) }.map { "the set \($0) was said to be counted" }
  }

  private static func others(after start: Int64, through end: Int64, _ record: Record) -> Int64 {
    var count = 0
    var row = start + 1
    while row <= min(end, record.log.end) {
      let transaction = record.transactions[record.transaction(of: row)]
      let last = min(end, transaction.rows.upperBound)
      if transaction.origin != "counter" { count += record.log.changes(after: row - 1, through: last).count }
      row = last + 1
    }
    return Int64(count)
  }
}

extension PlainValue {
  /// 0 for what is none.
  fileprivate var integer: Int64 { if case .integer(let integer) = self { integer } else { 0 } }
}
