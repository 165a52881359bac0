import TortureSupport

/// A transaction in the log.
struct Committed {
  /// Its rows, including the one that ends it, if there is one.
  let rows: ClosedRange<Int64>
  /// The origin of a write of the library, nil for a foreign one.
  let origin: String?
  let isForeign: Bool
}

extension LogCopy {
  /// The transactions, in order.
  ///
  /// A write of the library ends with a row that says where it began. A foreign transaction has no such row. Here it begins
  /// with the new name of its writer's user, by convention.
  func transactions(foreignUsers: Set<Int64>) -> [Committed] {
    var all: [Committed] = []
    var start: Int64 = 1
    func addForeign(through end: Int64) {
      if start <= end { all.append(Committed(rows: start...end, origin: nil, isForeign: true)) }
      start = end + 1
    }
    for row in rows {
      if row.isEnd {
        let first: Int64 = if case .integer(let first) = row.old { first } else { row.seq }
        addForeign(through: first - 1)
        all.append(Committed(rows: first...row.seq, origin: row.attribute, isForeign: false))
        start = row.seq + 1
      } else if row.op == 2, row.attribute == "name", foreignUsers.contains(row.user) {
        addForeign(through: row.seq - 1)
      }
    }
    addForeign(through: end)
    return all
  }
}

extension PlainValue {
  /// The number in `LABEL-NUMBER` or `LABEL-NUMBER-extra`.
  func number(of label: String) -> Int64? { labelAndNumber.flatMap { $0.label == label ? $0.number : nil } }

  /// The number after any label.
  var number: Int64? { labelAndNumber?.number }

  private var labelAndNumber: (label: Substring, number: Int64)? {
    guard let bytes = utf8 else { return nil }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: "-")
    guard parts.count > 1, let number = Int64(parts[1]) else { return nil }
    return (parts[0], number)
  }
}
