import TortureSupport

/// A set holds whole transactions: one write of the library, or several foreign ones.
///
/// This is checked twice: by the ends of transactions in the log, and by the number that each transaction writes to three
/// attributes. Only a set that was not saved may be incomplete, because the watcher was killed while it reported the set.
enum Atomic: FeedPromise {
  static let text = "a set holds whole transactions"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    for (number, run) in feed.runs.enumerated() {
      for (index, part) in run.parts.enumerated() {
        let isLast = index == run.parts.count - 1
        for set in part.sets {
          let isCut = isLast && set.revision == part.sets.last?.revision && set.revision > run.saved ?? 0
          if !isCut, let violation = violation(in: set, record) {
            violations.append("\(feed.name), run \(number + 1), revision \(set.revision): \(violation)")
          }
        }
      }
    }
    return violations
  }

  private static func violation(in set: ReportedSet, _ record: Record) -> String? {
    let rows = Set(set.places.compactMap { $0 })
    let touched = Set(rows.map { record.transaction(of: $0) }).sorted()
    let transactions = touched.map { record.transactions[$0] }
    for transaction in transactions {
      let changes = record.log.changes(after: transaction.rows.lowerBound - 1, through: transaction.rows.upperBound)
      let missing = changes.filter { !rows.contains($0.seq) }
      if !missing.isEmpty {
        return "has \(changes.count - missing.count) of \(changes.count) changes of transaction \(transaction.rows)"
      }
    }
    if transactions.count > 1, transactions.contains(where: { !$0.isForeign }) {
      return "has a write of the library and another transaction: \(transactions.map(\.rows))"
    }
    for user in record.numberedUsers where !isNumberedAlike(rows, of: user, record.log) {
      return "name, a, and b of user \(user) do not get the same numbers"
    }
    guard let last = transactions.last, last.rows.upperBound != set.revision else { return nil }
    return "its transactions end at \(last.rows.upperBound)"
  }

  private static func isNumberedAlike(_ rows: Set<Int64>, of user: Int64, _ log: LogCopy) -> Bool {
    let changes = rows.sorted().map { log[$0] }.filter { $0.user == user && $0.op == 2 }
    let names = changes.filter { $0.attribute == "name" }.map { $0.new.number.map(PlainValue.integer) ?? .null }
    let numbers = ["a", "b"].map { attribute in changes.filter { $0.attribute == attribute }.map(\.new) }
    return numbers.allSatisfy { $0 == names }
  }
}
