import UserStore

extension ReplicaTransaction {
  private static let insertEvent = SQL(
    "write to the replica", "INSERT INTO changes (op, user, old, new) VALUES (6, ?1, ?2, ?3)")
  private static let insertPart = SQL(
    "write to the replica", "INSERT INTO userstore_parts (op, user, attribute, old, new) VALUES (?1, ?2, ?3, ?4, ?5)")
  private static let selectParts = SQL(
    "write to the replica",
    "SELECT id, op, user, attribute, old, new FROM userstore_parts WHERE id > ?1 ORDER BY id LIMIT 1000")

  /// What the rows of a set have done.
  private struct Effects {
    /// The users whose records at the server were changed, and that undecided sets touch.
    var touched: Set<Int64> = []
    var hasPurged = false
    /// Whether the set was sent from here: its events were delivered when they were posted.
    var isOwn = false
  }

  /// Applies the sets of a page; returns whether a user was purged.
  mutating func follow(_ page: ChangesPage) throws(StoreError) -> Bool {
    // No place in the log says when access has changed.
    guard page.grant == file.grant else {
      try beginCopy()
      return false
    }
    hasVerifiedAnswer = file.target == nil && file.answered != nil
    var hasPurged = false
    for (rows, cursor, origin) in page.sets {
      try pull(cursor, origin: origin) { own throws(StoreError) in
        var effects = Effects()
        effects.isOwn = try own.hasSent(rows)
        if own.file.part != nil { try own.applyParts(&effects) }
        for row in rows { try own.apply(row, &effects) }
        own.file.cursor = cursor
        try own.show(effects.touched.union(own.decide()))
        hasPurged = hasPurged || effects.hasPurged
      }
      file.part = nil
    }
    file.cursor = page.cursor
    if let target = page.target ?? file.target { file.target = page.cursor.includes(target) ? nil : target }
    try settle()
    if let part = page.part {
      for row in page.rest { try store(row) }
      file.part = part
    }
    return hasPurged
  }

  // MARK: Rows

  /// Whether a set was sent from here; the note is in its last rows.
  private func hasSent(_ rows: [SyncRow]) throws(StoreError) -> Bool {
    for row in rows.reversed() {
      if case .pushed(let nonce) = row { return try outbox.has(nonce) }
    }
    return false
  }

  /// Makes a row of the server's log visible.
  ///
  /// By value: a row that is there already, or whose user is missing, has no effect. So users that the server purges later are not
  /// brought back, and may look older until their removal. A row about a user that undecided sets touch changes what these are on top of.
  private mutating func apply(_ row: SyncRow, _ effects: inout Effects) throws(StoreError) {
    if let user = row.changedUser, try outbox.touches(user) {
      effects.touched.insert(user)
      return try outbox.apply(row)
    }
    switch row {
    case .added(_, _, .null), .updated(_, _, old: .null, new: .null): break
    case .added(let id, .name, let name): try add(id, name)
    case .added(let id, let attribute, let value): _ = try session.put(attribute, of: User.ID(id), value)
    case .updated(let id, let attribute, _, let value): _ = try session.put(attribute, of: User.ID(id), value)
    case .removed(let id, .name): _ = try session.removeUser(User.ID(id))
    case .removed: break
    case .event(let user, let name, let payload):
      if !effects.isOwn { try tables.run(Self.insertEvent, StoredValue(user), name, payload) }
    case .purged(let id):
      effects.touched.remove(id)
      try purge(id)
      effects.hasPurged = true
    case .pushed(let nonce): try outbox.echo(nonce)
    }
  }

  /// Makes the record exactly this name; what else an addition has follows.
  private func add(_ id: Int64, _ name: StoredValue) throws(StoreError) {
    // The server's log removes a user before it adds one with the same id.
    _ = try session.removeUser(User.ID(id))
    _ = try session.insertUser(User.ID(id), name: name, hairColor: .null)
  }

  /// Removes the values of a user from the log here, also those of sets that were not sent.
  mutating func purge(_ id: Int64) throws(StoreError) {
    if try outbox.touches(id) {
      // The user exists at the server again.
      guard try outbox.base(of: id) == nil else { return }
      try outbox.removeRows(about: id)
      try show([id])
    }
    try session.purge(User.ID(id))
  }

  // MARK: Huge sets

  private func store(_ row: SyncRow) throws(StoreError) {
    let (operation, user, attribute, old, new): (Int64, Int64?, String?, StoredValue, StoredValue) =
      switch row {
      case .added(let id, let attribute, let value): (1, id, attribute.text, .null, value)
      case .updated(let id, let attribute, let old, let value): (2, id, attribute.text, old, value)
      case .removed(let id, let attribute): (3, id, attribute.text, .null, .null)
      case .event(let user, let name, let payload): (6, user, nil, name, payload)
      case .purged(let id): (5, id, nil, .null, .null)
      case .pushed(let nonce): (9, nil, nil, .integer(nonce), .null)
      }
    try tables.run(Self.insertPart, .integer(operation), StoredValue(user), StoredValue(attribute), old, new)
  }

  private mutating func applyParts(_ effects: inout Effects) throws(StoreError) {
    var last = Int64.min
    while true {
      let rows = try tables.all(Self.selectParts, .integer(last), columns: 6)
      guard let end = rows.last?[0].int64 else { break }
      for row in rows { if let row = SyncRow(row) { try apply(row, &effects) } }
      last = end
    }
    try tables.run(Self.deleteParts)
  }
}

extension SyncRow {
  /// Creates a row from `id, op, user, attribute, old, new`.
  fileprivate init?(_ row: [StoredValue]) {
    let (user, attribute) = (row[2].int64, AttributeName(String(storedValue: row[3]) ?? ""))
    switch row[1].int64 {
    case 1: self = .added(user ?? 0, attribute, row[5])
    case 2: self = .updated(user ?? 0, attribute, old: row[4], new: row[5])
    case 3: self = .removed(user ?? 0, attribute)
    case 5: self = .purged(user ?? 0)
    case 6: self = .event(user, name: row[4], payload: row[5])
    case 9: self = .pushed(row[4].int64 ?? 0)
    default: return nil
    }
  }

  /// The user that it changes; nil for a note.
  fileprivate var changedUser: Int64? {
    switch self {
    case .added(let id, _, _), .updated(let id, _, _, _), .removed(let id, _): id
    case .event, .purged, .pushed: nil
    }
  }
}
