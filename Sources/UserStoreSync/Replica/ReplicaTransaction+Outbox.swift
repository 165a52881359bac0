import UserStore

extension ReplicaTransaction {
  private static let selectNonce = SQL("read the log", "SELECT nonce FROM changes WHERE seq = ?1")
  private static let isPulled = SQL("read the log", "SELECT 1 FROM changes WHERE seq = ?1 AND op = 8")
  private static let hasOwnRows = SQL(
    "read the log", "SELECT 1 FROM changes WHERE seq BETWEEN ?1 AND ?2 AND op IN (1, 2, 3, 6) LIMIT 1")

  // MARK: Taking in

  /// Makes a set to send of each that the application or another program has written after a row.
  ///
  /// The rows of other programs so far are one set; later ones never join it, because it may have been sent.
  mutating func takeIn(after start: Int64) throws(StoreError) {
    let sets = try ownSets(after: start)
    if sets.isEmpty { return }
    try outbox.keepRecords(after: start)
    for rows in sets { try takeIn(rows) }
  }

  /// The rows of each set that the application or another program has written after a row, with the end of the set if it has one.
  func ownSets(after start: Int64) throws(StoreError) -> [ClosedRange<Int64>] {
    let end = try session.logEnd().revision.rawValue
    var (sets, position): ([ClosedRange<Int64>], Int64) = ([], start)
    func add(_ rows: ClosedRange<Int64>) throws(StoreError) {
      let (first, last) = (StoredValue.integer(rows.lowerBound), StoredValue.integer(rows.upperBound))
      if try tables.first(Self.hasOwnRows, first, last, columns: 1) != nil { sets.append(rows) }
    }
    while position < end {
      let next = try session.nextEnd(after: position, through: end)
      let foreignEnd = next.map { max($0.first, position + 1) - 1 } ?? end
      if foreignEnd > position { try add(position + 1...foreignEnd) }
      guard let next else { break }
      if try tables.first(Self.isPulled, .integer(next.sequence - 1), columns: 1) == nil {
        try add(foreignEnd + 1...next.sequence)
      }
      position = next.sequence
    }
    return sets
  }

  private mutating func takeIn(_ rows: ClosedRange<Int64>) throws(StoreError) {
    let last = StoredValue.integer(rows.upperBound)
    guard let nonce = try tables.first(Self.selectNonce, last, columns: 1)?[0].int64 else { throw Outbox.damaged }
    try outbox.add(rows, nonce: nonce, file.producer, number: file.next)
    file.next += 1
    try outbox.addRows(rows)
    guard let ids = file.ids else { return }
    // Somebody who adds a user wants to see it.
    let joined = Set(try outbox.added(in: rows)).subtracting(ids)
    if joined.isEmpty { return }
    file.users = ReplicaFile.text(of: joined.union(ids).sorted())
    // A user that was visible until the copy is installed, and was replaced: the copy may have passed its place.
    if file.copy == nil { return }
    for id in joined where try outbox.base(of: id) != nil { return try beginCopy() }
  }

  // MARK: Deciding

  /// Stores the answer to sets that were sent.
  mutating func receive(_ answer: PushAnswer, of producer: Int64) throws(StoreError) {
    var isNews = false
    for (nonce, decision) in answer.results where try outbox.answer(nonce, decision) { isNews = true }
    if isNews, try outbox.hasAnswers { file.answered = answer.cursor }
    if let number = answer.forked {
      let name = Int64.random(in: 1 ... .max)
      if let next = try outbox.fork(producer, at: number, to: name) { (file.producer, file.next) = (name, next) }
    }
    try settle()
  }

  /// Gives up the only set of a request that is larger than the server, or a proxy, accepts.
  mutating func refuse(_ push: Push) throws(StoreError) {
    for set in push.sets {
      _ = try outbox.answer(set.nonce, Decision(.tooLarge, "the server does not accept a set of this size"))
    }
    try settle()
  }

  /// Removes the sets that are decided from the outbox, and makes visible what then is.
  mutating func settle() throws(StoreError) {
    let users = try decide()
    if users.isEmpty { return }
    try pull(nil, origin: nil) { own throws(StoreError) in try own.show(users) }
  }

  /// Removes the sets that are decided, in their order, and returns the users whose records may be others now.
  ///
  /// A set is decided if it has come back, or if the server's log was read through the cursor of the answer: it was verified that this
  /// cursor is in the log, for the page that is applied. So nothing that was accepted disappears until it comes back.
  mutating func decide() throws(StoreError) -> Set<Int64> {
    var users: Set<Int64> = []
    while let set = try outbox.first, isDecided(set) {
      users.formUnion(try outbox.removeRows(of: set))
      try outbox.remove(set)
      if let result = set.result, result != .accepted { try refusals.add(set, result) }
    }
    if file.answered != nil, try !outbox.hasAnswers { file.answered = nil }
    return users
  }

  private func isDecided(_ set: Outbox.Set) -> Bool {
    guard let result = set.result else { return false }
    if set.isEchoed || Replica.Refusal.Reason(result)?.isFinal == true { return true }
    guard hasVerifiedAnswer, let answered = file.answered, let cursor = file.cursor else { return false }
    return cursor.includes(answered)
  }

  // MARK: Showing

  /// Makes the records of users visible that are, or were, touched: the server's, with what is undecided on top.
  mutating func show(_ users: Set<Int64>) throws(StoreError) {
    for user in users.sorted() {
      if try outbox.touches(user) {
        try show(user, outbox.record(of: user))
      } else {
        try show(user, outbox.base(of: user))
        try outbox.removeBase(of: user)
      }
    }
  }

  private func show(_ user: Int64, _ record: Outbox.Record) throws(StoreError) {
    let id = User.ID(user)
    guard let record, let name = record[.name] else {
      _ = try session.removeUser(id)
      return
    }
    if let current = try session.user(id)?.storedValues {
      for attribute in current.keys.sorted() where record[attribute] == nil {
        _ = try session.put(attribute, of: id, .null)
      }
      for (attribute, value) in record.sorted(by: { $0.key < $1.key }) where current[attribute] != value {
        _ = try session.put(attribute, of: id, value)
      }
      return
    }
    _ = try session.insertUser(id, name: name, hairColor: record[.hairColor] ?? .null)
    for (attribute, value) in record.sorted(by: { $0.key < $1.key }) where ![.name, .hairColor].contains(attribute) {
      try session.insert(attribute, of: id, value)
    }
  }

  /// Makes the server's records visible in place of what is undecided, which is given up.
  mutating func discard() throws(StoreError) {
    let users = Set(try outbox.touchedUsers())
    while let set = try outbox.first {
      _ = try outbox.removeRows(of: set)
      try outbox.remove(set)
    }
    file.answered = nil
    try pull(nil, origin: nil) { own throws(StoreError) in try own.show(users) }
  }
}
