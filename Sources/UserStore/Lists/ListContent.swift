/// The rows of a live list, and some beyond its limit, so that a row that leaves is replaced without reading.
struct ListContent: LiveContent {
  private let query: Query
  private let layout: RowLayout
  private let start: Row?
  /// The attributes of the order, and of the condition.
  private let keys: [AttributeName]
  private let mentioned: [AttributeName]
  private var tree = RowTree()
  private var rowsByID: [User.ID: Row] = [:]
  /// The last place up to which the rows are known; nil if there are no others.
  private var end: Row?
  private var cursor: Cursor?
  private var discontinuity: StoreError.Code?

  /// The number of rows to know beyond a small limit.
  private let reserve: Int

  init(_ query: Query, reserve: Int) {
    self.query = query
    self.reserve = reserve
    layout = RowLayout(query)
    start = query.start.map { [layout] in layout.row(at: $0) }
    keys = query.order.map(\.attribute)
    mentioned = query.condition.node.attributes
  }

  /// The number of rows to know beyond a limit after reading.
  private func reserve(for limit: Int) -> Int { min(max(limit, reserve), 1_000) }

  var mentions: Mentions {
    Mentions(query.condition, shown: query.shown.map { $0 + keys })
  }

  var value: Rows { Rows(tree, layout, limit: query.limit, at: cursor, discontinuity: discontinuity) }

  // MARK: Reading

  mutating func load(
    _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
  ) throws(StoreError) {
    let (rows, last) = try state.rows(
      where: query.condition, after: start, limit: query.limit.map { $0 + reserve(for: $0) }, layout, query.order)
    tree = RowTree(sorted: rows)
    rowsByID = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
    end = last
    self.cursor = cursor
    self.discontinuity = discontinuity
  }

  /// Reads rows beyond the last known place.
  private mutating func refill(_ limit: Int, _ state: PastState) throws(StoreError) {
    let missing = limit + reserve(for: limit) - tree.count
    let (rows, last) = try state.rows(where: query.condition, after: end, limit: missing, layout, query.order)
    for row in rows {
      tree.insert(row, layout.order)
      rowsByID[row.id] = row
    }
    end = last
  }

  // MARK: Following

  /// A new tree is built if more than one of so many rows changes: a change costs as much as copying about that many rows.
  private static let mergingShare = 20

  /// A user before and after a set: nil where the user is not in the list.
  private typealias Transition = (old: Row?, new: Row?)

  mutating func apply(
    _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
  ) throws(StoreError) -> Bool? {
    var transitions: [Transition] = []
    var unknown: [(place: Int, id: User.ID)] = []
    for delta in deltas {
      let old = rowsByID[delta.id]
      switch row(delta, old) {
      case .row(let new): if old != nil || new != nil { transitions.append((old, new)) }
      case .unknown:
        unknown.append((transitions.count, delta.id))
        transitions.append((old, nil))
      }
    }
    if !unknown.isEmpty {
      let isRead = try read { state throws(StoreError) in
        for (place, id) in unknown {
          guard let row = try state.row(id, layout), layout.meets(query.condition, row) else { continue }
          transitions[place].new = row
        }
      }
      if !isRead { return nil }
    }
    var isChanged = false
    if transitions.count > 16 + tree.count / Self.mergingShare {
      isChanged = merge(transitions)
    } else {
      for transition in transitions where apply(transition) { isChanged = true }
    }
    if let limit = query.limit, try !adjust(to: limit, read) { return nil }
    if isChanged { (self.cursor, discontinuity) = (cursor, nil) }
    return isChanged
  }

  private enum NewRow {
    case row(Row?)
    /// It has values that are neither in the set nor in the old row.
    case unknown
  }

  private func row(_ delta: UserDelta, _ old: Row?) -> NewRow {
    if delta.isPurged { return .unknown }
    if !delta.exists { return .row(nil) }
    func value(_ attribute: AttributeName) -> StoredValue? {
      delta.newValue(attribute) ?? old.flatMap { old in layout.column(attribute).map { old.values[$0] } }
    }
    let isMet = query.condition.node.truth(value)
    if isMet == false || old == nil && isOutside(delta) { return .row(nil) }
    let isWhole = old != nil || !delta.existed
    guard isMet != nil, isWhole || !layout.showsAll, layout.columns.allSatisfy({ value($0) != nil }) else {
      return .unknown
    }
    var others = old?.others ?? [:]
    if layout.showsAll {
      for (attribute, _, new) in delta.changes { others[attribute] = new.isNull ? nil : new }
    }
    return .row(layout.row(delta.id, { value($0) ?? .null }, all: others))
  }

  /// Whether a user who was not in the list stays outside, whatever values the set does not have.
  private func isOutside(_ delta: UserDelta) -> Bool {
    if keys.contains(where: { delta.newValue($0) == nil }) || keys.isEmpty {
      // At the same place as before.
      guard delta.existed, !keys.contains(where: delta.changes) else { return false }
      let isAffected = mentioned.contains(where: delta.changes)
      // A user who met the condition, and was not in the list, is beyond its end.
      return !isAffected || query.condition.node.truth(delta.oldValue) == true
    }
    guard let end else { return false }
    let place = Query.Position(values: keys.map { delta.newValue($0) ?? .null }, id: delta.id)
    return layout.order.compare(layout.row(at: place), end) > 0
  }

  /// Replaces a row, and returns whether that is visible.
  private mutating func apply(_ transition: Transition) -> Bool {
    let (old, new) = (transition.old, known(transition.new))
    guard let id = (new ?? old)?.id else { return false }
    let wasVisible = isVisible(old)
    if let row = old, new.map({ layout.order.compare(row, $0) != 0 }) ?? true { tree.remove(row, layout.order) }
    if let row = new { tree.insert(row, layout.order) }
    rowsByID[id] = new
    if let old, let new, wasVisible, isVisible(new) { return !layout.changes(from: old, to: new).isEmpty }
    return wasVisible || isVisible(new)
  }

  /// Replaces many rows, by building a new tree, and returns whether there were any.
  private mutating func merge(_ transitions: [Transition]) -> Bool {
    var new: [Row] = []
    var replaced: Set<User.ID> = []
    for transition in transitions {
      let row = known(transition.new)
      guard let id = (row ?? transition.old)?.id else { continue }
      rowsByID[id] = row
      replaced.insert(id)
      if let row { new.append(row) }
    }
    if replaced.isEmpty { return false }
    new.sort { layout.order.compare($0, $1) < 0 }
    var rows: [Row] = []
    rows.reserveCapacity(tree.count + new.count)
    var next = new[...]
    for row in tree where !replaced.contains(row.id) {
      while let first = next.first, layout.order.compare(first, row) < 0 { rows.append(next.removeFirst()) }
      rows.append(row)
    }
    tree = RowTree(sorted: rows + next)
    return true
  }

  /// The row if it is in the part of the order that is known; rows up to the start do not belong to the list.
  private func known(_ row: Row?) -> Row? {
    guard let row else { return nil }
    if let end, layout.order.compare(row, end) > 0 { return nil }
    if let start, layout.order.compare(row, start) <= 0 { return nil }
    return row
  }

  /// Whether a row of the tree is within the limit.
  private func isVisible(_ row: Row?) -> Bool {
    guard let row else { return false }
    return query.limit.map { tree.find(row, layout.order).position < $0 } ?? true
  }

  /// Reads more rows if there are fewer than the limit, and forgets some if there are many more; returns false if it cannot read.
  private mutating func adjust(to limit: Int, _ read: PastReader) throws(StoreError) -> Bool {
    let reserve = reserve(for: limit)
    if tree.count < limit, end != nil {
      return try read { state throws(StoreError) in try refill(limit, state) }
    }
    if tree.count > limit + 2 * reserve {
      for row in tree.suffix(tree.count - limit - reserve) { rowsByID[row.id] = nil }
      tree.truncate(to: limit + reserve)
      end = tree.last
    }
    return true
  }
}
