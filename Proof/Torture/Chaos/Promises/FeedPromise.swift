/// A promise about what a watcher is told, judged from what it printed and from the log: a pure function.
protocol FeedPromise {
  static var text: String { get }

  /// What breaks it.
  static func violations(in feed: Feed, _ record: Record) -> [String]
}

/// What the log says, once all is over.
struct Record {
  let log: LogCopy
  let transactions: [Committed]
  /// The last row that is forgotten by now.
  let horizon: Int64
  let foreignUsers: Set<Int64>
  /// Whose name, `a` and `b` are always changed together, to the same number.
  let numberedUsers: Set<Int64>
  /// The transaction of each row, by the row's number minus one.
  private let transactionOfRow: [Int]

  init(_ log: LogCopy, foreignUsers: Set<Int64> = [], numberedUsers: Set<Int64> = [], horizon: Int64) {
    self.log = log
    self.horizon = horizon
    self.foreignUsers = foreignUsers
    self.numberedUsers = numberedUsers
    transactions = log.transactions(foreignUsers: foreignUsers)
    var ofRow: [Int] = []
    for (index, transaction) in transactions.enumerated() {
      ofRow += Array(repeating: index, count: transaction.rows.count)
    }
    transactionOfRow = ofRow
  }

  func transaction(of seq: Int64) -> Int { transactionOfRow[Int(seq) - 1] }
}

enum FeedPromises {
  static var all: [any FeedPromise.Type] {
    [
      OnlyCommitted.self, Ordered.self, Unique.self, Gapless.self, Atomic.self, Resumed.self, RightlyReset.self,
      Complete.self,
    ]
  }
}

extension Feed {
  /// Calls `body` with each part of each run, and where it was, for messages.
  func forEachPart(_ body: (_ part: Telling.Part, _ place: String) -> Void) {
    for (number, run) in runs.enumerated() {
      for part in run.parts { body(part, "\(name), run \(number + 1)") }
    }
  }
}
