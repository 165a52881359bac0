/// A promise about what a watcher reports, checked by a pure function of its output and the log.
protocol FeedPromise {
  static var text: String { get }

  /// Descriptions of everything that breaks the promise.
  static func violations(in feed: Feed, _ record: Record) -> [String]
}

/// The log at the end of a life.
struct Record {
  let log: LogCopy
  let transactions: [Committed]
  /// The last row that was deleted.
  let horizon: Int64
  let foreignUsers: Set<Int64>
  /// The users whose name, `a`, and `b` always change together, to the same number.
  let numberedUsers: Set<Int64>
  /// The index of each row's transaction, by the row's number minus one.
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
  /// Calls `body` with each part of each run, and with its place for messages.
  func forEachPart(_ body: (_ part: WatchOutput.Part, _ place: String) -> Void) {
    for (number, run) in runs.enumerated() {
      for part in run.parts { body(part, "\(name), run \(number + 1)") }
    }
  }
}
