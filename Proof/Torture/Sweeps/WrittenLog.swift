import TortureSupport

/// The log as it lies in the file, read without the library.
struct WrittenLog {
  struct Row {
    let seq: Int64
    let op: Int64
    let user: Int64
    let attribute: [UInt8]
    let old: PlainValue
    let new: PlainValue
    let nonce: Int64
  }

  /// The end of a write of the library.
  struct Mark {
    let seq: Int64
    let first: Int64
    let nonce: Int64
    let origin: String?
  }

  private(set) var epoch: Int64 = 0
  private(set) var horizon: Int64 = 0
  private(set) var horizonNonce: Int64 = 0
  private(set) var rows: [Int64: Row] = [:]
  private(set) var marks: [Int64: Mark] = [:]
  private(set) var last: Int64 = 0

  init(_ connection: PlainConnection) throws {
    let meta = try connection.run("SELECT epoch, horizon, horizon_nonce FROM meta")
    guard let meta = meta.first, case .integer(let epoch) = meta[0], case .integer(let horizon) = meta[1],
      case .integer(let nonce) = meta[2]
    else { throw Mismatch("there is no meta row") }
    (self.epoch, self.horizon, horizonNonce, last) = (epoch, horizon, nonce, horizon)
    for row in try connection.run("SELECT seq, op, user, attribute, old, new, nonce FROM changes ORDER BY seq") {
      try add(row)
    }
  }

  private mutating func add(_ row: [PlainValue]) throws {
    guard case .integer(let seq) = row[0], case .integer(let op) = row[1], case .integer(let nonce) = row[6] else {
      throw Mismatch("a malformed row in the log: \(row)")
    }
    // The newest row stays when the log is shortened, though it may lie before the horizon.
    guard seq == last + 1 || rows.isEmpty && marks.isEmpty && seq <= horizon else {
      throw Mismatch("row \(seq) of the log comes after \(last)")
    }
    last = max(last, seq)
    if op == 0, case .integer(let first) = row[4] {
      marks[seq] = Mark(
        seq: seq, first: first, nonce: nonce, origin: row[3].utf8.map { String(decoding: $0, as: UTF8.self) })
    } else if case .integer(let user) = row[2], let attribute = row[3].utf8 {
      rows[seq] = Row(seq: seq, op: op, user: user, attribute: attribute, old: row[4], new: row[5], nonce: nonce)
    } else {
      throw Mismatch("a malformed row in the log: \(row)")
    }
  }

  /// The end of the write that called itself so.
  func marks(of origin: String) -> [Mark] { marks.values.filter { $0.origin == origin } }

  /// Whether the log has a cursor's place: the row with its number and nonce.
  func holds(_ cursor: CursorParts) -> Bool {
    guard cursor.epoch == epoch else { return false }
    if cursor.revision == horizon { return horizon == 0 || cursor.nonce == horizonNonce }
    return (marks[cursor.revision]?.nonce ?? rows[cursor.revision]?.nonce) == cursor.nonce
  }

  /// Goes back from the tables to the horizon: each row must find what it left, and at a horizon of 0 nothing is there.
  ///
  /// So a log that was shortened is seen to tell the tables too. Rows of purged users have no values, and are left out.
  func checkTables(of connection: PlainConnection, without purged: Set<Int64>) throws {
    var rewound = Rewound(users: try LogCheck.tables(of: connection))
    for user in purged where rewound.users[user] != nil { throw Mismatch("user \(user) was purged, and is there") }
    for (_, row) in rows.sorted(by: { $0.key > $1.key }) where row.seq > horizon && !purged.contains(row.user) {
      do { try rewound.undo(row) } catch { throw Mismatch("row \(row.seq) of the log: \(error)") }
    }
    if horizon == 0, !rewound.users.isEmpty {
      throw Mismatch("users that the log does not know: \(rewound.users.keys)")
    }
  }
}

/// The records on the way back.
private struct Rewound {
  var users: [Int64: Replica.User]
  private var isComingBack: Set<Int64> = []

  init(users: [Int64: Replica.User]) {
    self.users = users
  }

  mutating func undo(_ row: WrittenLog.Row) throws(Mismatch) {
    let field = Self.field(row.attribute)
    if row.op == 3, users[row.user] == nil {
      users[row.user] = Replica.User(name: .null)
      isComingBack.insert(row.user)
    }
    guard let user = users[row.user] else { throw Mismatch("user \(row.user) is not there") }
    guard row.op == 3 ? isComingBack.contains(row.user) : user[field] == row.new else {
      throw Mismatch(
        "the \(String(decoding: row.attribute, as: UTF8.self)) of user \(row.user) is \(user[field]), not \(row.new)")
    }
    users[row.user]?[field] = row.old
    guard case .name = field else { return }
    if row.op == 3 { isComingBack.remove(row.user) }
    if row.op == 1 {
      guard users[row.user]?.attributes.isEmpty == true else {
        throw Mismatch("attributes before user \(row.user) came")
      }
      users[row.user] = nil
    }
  }

  private static func field(_ name: [UInt8]) -> LoggedChange.Field {
    switch name {
    case Array("name".utf8): .name
    case Array("hair_color".utf8): .hairColor
    default: .attribute(name)
    }
  }
}
