/// The records as they were at the end of a change set, read in a snapshot that may be later.
///
/// Later changes are taken back: for each attribute that changed in between, the log has the value before the first change.
struct PastState {
  let session: any Session
  /// The changes between the end of the set and the snapshot.
  private let later: Fold

  /// The number of later changes beyond which lists are read as they are in the snapshot instead.
  private static let limit: Int64 = 1_000

  /// Reads the state at the end of a set in an open transaction; nil if the log does not reach it, has too many changes since,
  /// or has lost values to a purge.
  init?(at cursor: Cursor, _ session: any Session) throws(StoreError) {
    self.session = session
    var later = Fold()
    do {
      // Mostly nothing was committed since: then the log needs no further check.
      if try session.logEnd() == cursor {
        self.later = later
        return
      }
      let end = try session.verify(cursor)
      let start = cursor.revision.rawValue
      guard end - start <= Self.limit else { return nil }
      let rows = try session.rows(withoutGapAfter: start, through: end)
      guard rows.last?.sequence == end else { return nil }
      for change in rows.entries.changes { later.add(change) }
      // The values that a purge removed cannot be restored.
      if later.deltas.contains(where: \.isPurged) { return nil }
    } catch {
      guard error.code == .compacted || error.code == .diverged else { throw error }
      return nil
    }
    self.later = later
  }

  /// Reads the state at a revision for one user only, however many changes were made since.
  ///
  /// - Throws: `StoreError.Code.compacted` if the log no longer has all of them, or a purge has removed values of the user;
  ///   `.revisionNotFound` for a revision after the end of the log; and any other `StoreError` if reading fails.
  init(of user: User.ID, at revision: Revision, _ session: any Session) throws(StoreError) {
    self.session = session
    let end = try session.logEnd().revision
    if revision > end { throw StoreError(.revisionNotFound, "the log ends at revision \(end)") }
    guard var last = try session.cursor(at: revision.rawValue)?.revision.rawValue else {
      throw StoreError(.compacted, "the changes since revision \(revision) were deleted from the log")
    }
    var later = Fold()
    while let page = try session.changes(after: last, through: end.rawValue) {
      for change in page.changes where change.user == user { later.add(change) }
      last = page.last
    }
    if last < end.rawValue { throw StoreError(.corrupt, "the log has no rows after revision \(last)") }
    if later[user]?.isPurged ?? false {
      throw StoreError(.compacted, "values of user \(user) since revision \(revision) were purged")
    }
    self.later = later
  }

  init(_ session: any Session) {
    self.session = session
    later = Fold()
  }

  /// The value of an attribute; null if it is not set, or if there was no such user.
  func value(_ attribute: AttributeName, of id: User.ID) throws(StoreError) -> StoredValue {
    if attribute == .id { return .integer(id.rawValue) }
    if let delta = later[id], let value = delta.oldValue(attribute) { return value }
    return try session.value(attribute, of: id)
  }

  func row(_ id: User.ID, _ layout: RowLayout) throws(StoreError) -> Row? {
    // One statement for all attributes, unless only the name is needed.
    if layout.columns == [.name], !layout.showsAll {
      let name = try value(.name, of: id)
      return name.isNull ? nil : Row(id, [name])
    }
    return try user(id).map { layout.row($0) }
  }

  func user(_ id: User.ID) throws(StoreError) -> User? {
    let user = try session.user(id)
    guard let changes = later[id]?.changes else { return user }
    var values = user?.storedValues ?? [:]
    for (attribute, old, _) in changes { values[attribute] = old.isNull ? nil : old }
    return values[.name] == nil ? nil : User(id: id, storedValues: values)
  }

  /// Reads the rows that meet a condition, after a place in the order; `last` is the row up to which all were read, nil if there
  /// are no more.
  func rows(
    where condition: Condition, after start: Row?, limit: Int?, _ layout: RowLayout, _ order: [SortKey]
  ) throws(StoreError) -> (rows: [Row], last: Row?) {
    // Users that changed later are left out below, and may have been among the first rows.
    let limit = limit.map { $0 + later.deltas.count }
    let request = RowRequest(
      condition: condition, order: order, start: start.map { layout.position(of: $0) }, limit: limit,
      columns: layout.columns)
    var rows: [Row] = []
    if layout.showsAll {
      try session.eachUser(request) { user in
        rows.append(layout.row(user))
        return true
      }
    } else {
      try session.eachRow(request) { id, values in
        rows.append(Row(id, values))
        return true
      }
    }
    let end = rows.count == limit ? rows.last : nil
    rows.removeAll { later[$0.id] != nil }
    var changed: [Row] = []
    for delta in later.deltas {
      guard let row = try row(delta.id, layout), layout.meets(condition, row) else { continue }
      if let start, layout.order.compare(row, start) <= 0 { continue }
      if let end, layout.order.compare(row, end) > 0 { continue }
      changed.append(row)
    }
    if !changed.isEmpty { rows = (rows + changed).sorted { layout.order.compare($0, $1) < 0 } }
    return (rows, end)
  }
}

extension RowLayout {
  /// Whether a row meets a condition that mentions only columns.
  func meets(_ condition: Condition, _ row: Row) -> Bool {
    condition.node.truth { attribute in column(attribute).map { row.values[$0] } } == true
  }
}

extension UserStore.Transaction where Mode == UserStore.Reading {
  /// Reads a user as it was at the end of an earlier write.
  ///
  /// Reads the user, and takes back what the log says was changed since: a microsecond for each change of any user.
  ///
  /// - Parameters:
  ///   - id: The user's identifier.
  ///   - revision: The revision at which a change set ends, for example one that `revision` of a write has returned.
  /// - Returns: The user; nil if there was none.
  /// - Throws: `StoreError.Code.compacted` if the log no longer has all changes since, or a purge has removed values of the user from it;
  ///   `.revisionNotFound` for a revision after the end of the log; and any other `StoreError` if reading fails.
  public mutating func user(
    _ id: UserStore.User.ID, at revision: UserStore.Revision
  ) throws(StoreError) -> UserStore.User? {
    try PastState(of: id, at: revision, session).user(id)
  }
}
