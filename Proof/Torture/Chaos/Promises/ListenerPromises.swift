import TortureSupport

/// A listener in a writing process receives each committed set once, in order, and before the write returns.
enum DeliveredBeforeReturn {
  static let text = "a listener receives only committed sets, in order, once, and before the write returns"

  static func violations(in life: EmbedderLife, of histories: [History], _ record: Record) -> [String] {
    var violations: [String] = []
    var received: [Int64] = []
    let ends = Ends(histories, record)
    for event in life.events {
      switch event {
      case .received(let revision, let changes):
        violations += violation(in: revision, changes, after: received.last, record).map { [$0] } ?? []
        received.append(revision)
      case .acknowledged(let user, let number):
        guard let revision = ends[user, number] else { continue }
        if received.contains(revision) { continue }
        violations.append("the write of number \(number) of user \(user) returned before its set was delivered")
      }
    }
    return violations
  }

  private static func violation(in revision: Int64, _ changes: Int, after last: Int64?, _ record: Record) -> String? {
    guard record.log.has(revision) else { return "received revision \(revision), which is not in the log" }
    guard let last else { return nil }
    if revision <= last { return "received revision \(revision) after \(last)" }
    let count = record.log.changes(after: last, through: revision).count
    return count == changes ? nil : "received \(changes) of \(count) changes between \(last) and \(revision)"
  }

  /// The revisions of the writes in the log.
  private struct Ends {
    private var writers: [Int64: Written] = [:]

    init(_ histories: [History], _ record: Record) {
      for history in histories { writers[history.user] = Written(history, record) }
    }

    subscript(_ user: Int64, _ number: Int64) -> Int64? { writers[user]?[.number(number)].first }
  }
}

/// A consumer that writes its effects together with its position has the effect of each set exactly once.
enum ExactlyOnce {
  static let text = "a consumer that writes together with its position counts each change exactly once"

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
        violations.append("\(expected) changes after \(through) and through \(next), but \(sum.old) → \(sum.new)")
      }
      through = next
      sets.insert(next)
    }
    return violations + counted.filter { !sets.contains($0) }.map { "the set \($0) was announced and is not counted" }
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
  /// 0 if it is not an integer.
  fileprivate var integer: Int64 { if case .integer(let integer) = self { integer } else { 0 } }
}
