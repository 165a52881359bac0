import TortureSupport

/// The log in the file, read without the library.
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

  /// A row that is part of a set, but no change of a record.
  struct Note {
    let op: Int64
    let user: Int64?
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
  private(set) var notes: [Int64: Note] = [:]
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
    // A compaction keeps the newest row, which may be before the horizon.
    guard seq == last + 1 || rows.isEmpty && notes.isEmpty && marks.isEmpty && seq <= horizon else {
      throw Mismatch("row \(seq) of the log comes after \(last)")
    }
    last = max(last, seq)
    if op == 0, case .integer(let first) = row[4] {
      marks[seq] = Mark(
        seq: seq, first: first, nonce: nonce, origin: row[3].utf8.map { String(decoding: $0, as: UTF8.self) })
    } else if op >= LoggedChange.firstNote {
      let user: Int64? = if case .integer(let user) = row[2] { user } else { nil }
      notes[seq] = Note(op: op, user: user, nonce: nonce)
    } else if case .integer(let user) = row[2], let attribute = row[3].utf8 {
      rows[seq] = Row(seq: seq, op: op, user: user, attribute: attribute, old: row[4], new: row[5], nonce: nonce)
    } else {
      throw Mismatch("a malformed row in the log: \(row)")
    }
  }

  /// The ends of the writes with an origin.
  func marks(of origin: String) -> [Mark] { marks.values.filter { $0.origin == origin } }

  /// Whether the log has the row with a cursor's number and nonce.
  func holds(_ cursor: CursorText) -> Bool {
    guard cursor.epoch == epoch else { return false }
    if cursor.revision == horizon { return horizon == 0 || cursor.nonce == horizonNonce }
    let nonce = marks[cursor.revision]?.nonce ?? rows[cursor.revision]?.nonce ?? notes[cursor.revision]?.nonce
    return nonce == cursor.nonce
  }

  /// Checks that a user's values were removed, all at once, if and only if one note says so, which is a write of its own.
  func checkPurge(of user: Int64) throws {
    let values = rows.values.filter { $0.user == user && $0.attribute == Array("name".utf8) && $0.seq > horizon }
    let blank = values.count { $0.old == .null && $0.new == .null }
    guard blank == 0 || blank == values.count else { throw Mismatch("only some values of user \(user) were purged") }
    let noted = notes.filter { $0.value.op == 5 && $0.value.user == user }.keys
    guard noted.count == min(blank, 1) else {
      throw Mismatch("\(blank) values of user \(user) were purged, which \(noted.count) notes say")
    }
    for seq in noted where marks[seq + 1]?.first != seq { throw Mismatch("the note \(seq) is no write of its own") }
  }

  /// Undoes the log's rows from the tables back to the horizon.
  ///
  /// Each row must find its new value, and if the horizon is 0, nothing may remain.
  ///
  /// This checks a compacted log too. Rows of purged users have no values, and are skipped.
  func checkTables(of connection: PlainConnection, without purged: Set<Int64>) throws {
    var rewound = Rewound(users: try LogCheck.tables(of: connection))
    for user in purged where rewound.users[user] != nil { throw Mismatch("user \(user) was purged, but is there") }
    for (_, row) in rows.sorted(by: { $0.key > $1.key }) where row.seq > horizon && !purged.contains(row.user) {
      do { try rewound.undo(row) } catch { throw Mismatch("row \(row.seq) of the log: \(error)") }
    }
    if horizon == 0, !rewound.users.isEmpty {
      throw Mismatch("users that are not in the log: \(rewound.users.keys)")
    }
  }
}

/// The records while rows are undone.
private struct Rewound {
  var users: [Int64: Replica.User]
  /// Users that were removed, and whose removal is being undone.
  private var restored: Set<Int64> = []

  init(users: [Int64: Replica.User]) {
    self.users = users
  }

  mutating func undo(_ row: WrittenLog.Row) throws(Mismatch) {
    let field = Self.field(row.attribute)
    if row.op == 3, users[row.user] == nil {
      users[row.user] = Replica.User(name: .null)
      restored.insert(row.user)
    }
    guard let user = users[row.user] else { throw Mismatch("user \(row.user) is not there") }
    guard row.op == 3 ? restored.contains(row.user) : user[field] == row.new else {
      throw Mismatch(
        "the \(String(decoding: row.attribute, as: UTF8.self)) of user \(row.user) is \(user[field]), not \(row.new)")
    }
    users[row.user]?[field] = row.old
    guard case .name = field else { return }
    if row.op == 3 { restored.remove(row.user) }
    if row.op == 1 {
      guard users[row.user]?.attributes.isEmpty == true else {
        throw Mismatch("user \(row.user) had attributes before it was added")
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
