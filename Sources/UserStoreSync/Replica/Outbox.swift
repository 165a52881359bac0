import UserStore

/// The sets of the application that the server has not decided, and the server's records of the users that they touch.
///
/// A user is touched as long as one of the sets has a row about it; then its record here is the server's with these rows on top.
struct Outbox {
  let tables: PartTables

  struct Set {
    /// The last row of the set in the log.
    let last: Int64
    let first: Int64
    let nonce: Int64
    let producer: Int64
    let number: Int64
    let result: Decision?
    /// Whether it came back with the server's log.
    let isEchoed: Bool
  }

  /// A user's attributes; nil if there is no such user.
  typealias Record = [AttributeName: StoredValue]?

  static let damaged = StoreError(
    .corrupt, "the log of the replica lacks changes that are to be sent to the server",
    hint: "signOut(pending: .discard) gives them up, and copies again")

  private static let columns = "last, first, nonce, producer, number, result, detail, echoed"
  private static let selectFirst = SQL(
    "read the outbox", "SELECT \(columns) FROM userstore_outbox ORDER BY last LIMIT 1")
  private static let selectUnanswered = SQL(
    "read the outbox",
    "SELECT \(columns) FROM userstore_outbox WHERE last > ?1 AND result IS NULL ORDER BY last LIMIT 100")
  private static let selectFrom = SQL(
    "read the outbox", "SELECT \(columns) FROM userstore_outbox WHERE last >= ?1 ORDER BY last LIMIT 1000")
  private static let selectForked = SQL(
    "read the outbox",
    "SELECT min(last) FROM userstore_outbox WHERE producer = ?1 AND number >= ?2 AND result IS NULL")
  private static let selectCount = SQL("read the outbox", "SELECT count(*) FROM userstore_outbox")
  private static let selectCountFrom = SQL("read the outbox", "SELECT count(*) FROM userstore_outbox WHERE last >= ?1")
  private static let selectDecided = SQL(
    "read the outbox", "SELECT min(number) - 1 FROM userstore_outbox WHERE producer = ?1")
  private static let hasAnswer = SQL(
    "read the outbox", "SELECT 1 FROM userstore_outbox WHERE result IS NOT NULL AND echoed = 0 LIMIT 1")
  private static let insert = SQL(
    "write to the outbox",
    "INSERT INTO userstore_outbox (last, first, nonce, producer, number, echoed) VALUES (?1, ?2, ?3, ?4, ?5, 0)")
  private static let delete = SQL("write to the outbox", "DELETE FROM userstore_outbox WHERE last = ?1")
  private static let deleteAll = ["userstore_outbox", "userstore_outbox_rows", "userstore_base"].map {
    SQL("write to the outbox", "DELETE FROM \($0)")
  }
  private static let answer = SQL(
    "write to the outbox",
    "UPDATE userstore_outbox SET result = ?2, detail = ?3 WHERE nonce = ?1 AND result IS NULL")
  private static let selectNonce = SQL("read the outbox", "SELECT 1 FROM userstore_outbox WHERE nonce = ?1")
  private static let echo = SQL(
    "write to the outbox", "UPDATE userstore_outbox SET result = 'accepted', detail = NULL, echoed = 1 WHERE nonce = ?1"
  )
  private static let forget = SQL(
    "write to the outbox",
    "UPDATE userstore_outbox SET result = NULL, detail = NULL, echoed = 0 WHERE result IS NOT NULL")
  private static let renumber = SQL(
    "write to the outbox", "UPDATE userstore_outbox SET producer = ?2, number = ?3 WHERE last = ?1")
  private static let selectRows = SQL(
    "read the outbox",
    "SELECT seq, op, user, attribute, old, new, nonce FROM changes WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT 1000")

  // MARK: Sets

  var hasSets: Bool { get throws(StoreError) { try first != nil } }

  var first: Set? {
    get throws(StoreError) { try tables.first(Self.selectFirst, columns: 8).map { Set($0) } }
  }

  /// Whether there is something to send.
  var hasUnanswered: Bool {
    get throws(StoreError) { try tables.first(Self.selectUnanswered, .integer(.min), columns: 1) != nil }
  }

  var count: Int {
    get throws(StoreError) { Int(try tables.first(Self.selectCount, columns: 1)?[0].int64 ?? 0) }
  }

  /// Whether the server has answered about a set that has not come back with its log.
  var hasAnswers: Bool { get throws(StoreError) { try tables.first(Self.hasAnswer, columns: 1) != nil } }

  func add(_ rows: ClosedRange<Int64>, nonce: Int64, _ producer: Int64, number: Int64) throws(StoreError) {
    try tables.run(
      Self.insert, .integer(rows.upperBound), .integer(rows.lowerBound), .integer(nonce), .integer(producer),
      .integer(number))
  }

  func remove(_ set: Set) throws(StoreError) { try tables.run(Self.delete, .integer(set.last)) }

  func removeAll() throws(StoreError) { for statement in Self.deleteAll { try tables.run(statement) } }

  /// Stores what the server has answered; returns whether that is news.
  func answer(_ nonce: Int64, _ decision: Decision) throws(StoreError) -> Bool {
    try tables.run(Self.answer, .integer(nonce), .text(decision.result), StoredValue(decision.detail)) > 0
  }

  func has(_ nonce: Int64) throws(StoreError) -> Bool {
    try tables.first(Self.selectNonce, .integer(nonce), columns: 1) != nil
  }

  func echo(_ nonce: Int64) throws(StoreError) { try tables.run(Self.echo, .integer(nonce)) }

  func forgetResults() throws(StoreError) { try tables.run(Self.forget) }

  /// Gives new numbers to the set with a number that the server knows from another set, and to all after it: through 0, under a new name.
  ///
  /// Those before keep theirs, under which the server may know them. Other copies of the file may have these sets too, and send them later
  /// under other names: so the server never forgets what it has decided about numbers below 1. Returns the next number.
  func fork(_ producer: Int64, at number: Int64, to name: Int64) throws(StoreError) -> Int64? {
    guard var start = try tables.first(Self.selectForked, .integer(producer), .integer(number), columns: 1)?[0].int64
    else { return nil }
    let count = try tables.first(Self.selectCountFrom, .integer(start), columns: 1)?[0].int64 ?? 0
    var next = 1 - count
    while true {
      let sets = try tables.all(Self.selectFrom, .integer(start), columns: 8).map { Set($0) }
      for set in sets {
        try tables.run(Self.renumber, .integer(set.last), .integer(name), .integer(next))
        next += 1
      }
      guard let last = sets.last?.last else { return next }
      start = last + 1
    }
  }

  // MARK: Sending

  /// The first sets without a result, of one name, up to the size of a request; nil if there is none.
  func push(_ file: ReplicaFile, isSingle: Bool) throws(StoreError) -> Push? {
    guard let cursor = file.cursor, let identity = file.identity,
      let producer = try tables.first(Self.selectUnanswered, .integer(.min), columns: 8).map({ Set($0) })?.producer
    else { return nil }
    let decided = try tables.first(Self.selectDecided, .integer(producer), columns: 1)?[0].int64 ?? 0
    var push = Push(
      identity: identity, subject: file.subject ?? "", producer: producer, cursor: cursor, decided: decided)
    var (size, last) = (0, Int64.min)
    let setLimit = isSingle ? 1 : Push.setLimit
    while true {
      let sets = try tables.all(Self.selectUnanswered, .integer(last), columns: 8).map { Set($0) }
      for set in sets {
        guard set.producer == producer else { return push }
        let (origin, rows) = try read(set)
        let bytes = (rows ?? []).reduce(100) { $0 + $1.byteCount }
        if !push.sets.isEmpty, size + bytes > Push.byteLimit { return push }
        push.sets.append(Push.Set(number: set.number, nonce: set.nonce, origin: origin, rows: rows))
        size += bytes
        if push.sets.count >= setLimit || size >= Push.byteLimit { return push }
      }
      guard let end = sets.last?.last else { return push }
      last = end
    }
  }

  /// The origin and the rows of a set; no rows if values of them were purged.
  private func read(_ set: Set) throws(StoreError) -> (origin: String?, rows: [OwnRow]?) {
    var (rows, origin, isVoid): ([OwnRow], String?, Bool) = ([], nil, false)
    var next = set.first
    while next <= set.last {
      let page = try tables.all(Self.selectRows, .integer(next), .integer(set.last), columns: 7)
      for row in page {
        guard row[0].int64 == next, next < set.last || row[6].int64 == set.nonce else { throw Self.damaged }
        next += 1
        if row[1].int64 == 0 { origin = String(storedValue: row[3]) }
        if LoggedRow.isPurged(row) { isVoid = true }
        if let row = LoggedRow.own(row) { rows.append(row) }
      }
      if page.isEmpty { throw Self.damaged }
    }
    return (origin, isVoid ? nil : rows)
  }
}

extension Outbox.Set {
  /// Creates a set from `last, first, nonce, producer, number, result, detail, echoed`.
  fileprivate init(_ row: [StoredValue]) {
    (last, first, nonce) = (row[0].int64 ?? 0, row[1].int64 ?? 0, row[2].int64 ?? 0)
    (producer, number) = (row[3].int64 ?? 0, row[4].int64 ?? 0)
    result = String(storedValue: row[5]).map { Decision($0, detail: String(storedValue: row[6])) }
    isEchoed = row[7].int64 == 1
  }
}

/// A row of the log as `seq, op, user, attribute, old, new`.
private enum LoggedRow {
  /// Whether a purge has removed what the row did.
  static func isPurged(_ row: [StoredValue]) -> Bool {
    let isName = String(storedValue: row[3]) == "name"
    return switch row[1].int64 {
    case 1: isName && row[5].isNull
    case 2: row[4].isNull && row[5].isNull
    case 3: isName && row[4].isNull
    default: false
    }
  }

  /// What the row did; nil for the end of a set, and for what goes without saying.
  static func own(_ row: [StoredValue]) -> OwnRow? {
    let user = row[2].int64
    let attribute = AttributeName(String(storedValue: row[3]) ?? "")
    switch (row[1].int64, user) {
    case (1, let user?) where attribute == .name: return .add(user, name: row[5])
    case (1, let user?): return row[5].isNull ? nil : .set(user, attribute, row[5])
    case (2, let user?): return .set(user, attribute, row[5])
    case (3, let user?): return attribute == .name ? .remove(user) : nil
    case (4, let user?): return .expect(user, attribute, row[5])
    case (6, let user): return .post(user, name: row[4], payload: row[5])
    default: return nil
    }
  }
}
