/// The rows of a live list, and some beyond its limit, so that a row that leaves is replaced without reading.
struct ListContent: LiveContent {
  /// The parts that never change, in an object of their own, so that the content is small.
  private let setup: Setup
  private var tree = RowTree()
  private var rowsByID: Set<RowByID> = []
  /// The place in the order up to which all rows are known; nil if it is the end.
  private var end: Row?
  private var cursor: Cursor?
  private var discontinuity: StoreError.Code?

  private final class Setup: Sendable {
    let query: Query
    let layout: RowLayout
    let start: Row?
    /// nil also for a limit that no list reaches, to which nothing could be added.
    let limit: Int?
    /// The attributes of the order, and of the condition.
    let keys: [AttributeName]
    let mentioned: [AttributeName]
    /// The number of rows to know beyond a small limit.
    private let reserve: Int

    init(_ query: Query, reserve: Int) {
      self.query = query
      self.reserve = reserve
      let layout = RowLayout(query)
      self.layout = layout
      start = query.start.map { layout.row(at: $0) }
      limit = query.limit.flatMap { $0 < 1 << 31 ? $0 : nil }
      keys = query.sortedBy.map(\.attribute)
      mentioned = query.where.node.attributes
    }

    /// The number of rows to know beyond a limit after reading.
    func reserve(for limit: Int) -> Int { min(max(limit, reserve), 1_000) }
  }

  init(_ query: Query, reserve: Int) {
    setup = Setup(query, reserve: reserve)
  }

  private var condition: Condition { setup.query.where }
  private var layout: RowLayout { setup.layout }

  var mentions: Mentions {
    Mentions(condition, shown: setup.query.showing.map { $0 + setup.keys })
  }

  var value: ErasedValue {
    ValueBox(Rows(tree, layout, limit: setup.query.limit, at: cursor, discontinuity: discontinuity))
  }

  // MARK: Reading

  mutating func load(
    _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
  ) throws(StoreError) -> Bool {
    let (rows, last) = try state.rows(
      where: condition, after: setup.start, limit: setup.limit.map { $0 + setup.reserve(for: $0) }, layout,
      setup.query.sortedBy)
    let old = tree
    tree = RowTree(sorted: rowsByID.isEmpty ? rows : rows.map { known(as: $0) })
    rowsByID = Set(tree.map { RowByID($0) })
    try checkRows(rows, after: setup.start)
    end = last
    self.cursor = cursor
    self.discontinuity = discontinuity
    return isVisible(since: old)
  }

  /// The known row if it is equal: rows that did not change stay the same objects, so that comparing versions is fast.
  private func known(as row: Row) -> Row {
    guard let known = rowsByID.row(row.id), known.isEqual(to: row) else { return row }
    return known
  }

  private mutating func refill(_ limit: Int, _ state: PastState) throws(StoreError) {
    let missing = limit + setup.reserve(for: limit) - tree.count
    let (rows, last) = try state.rows(where: condition, after: end, limit: missing, layout, setup.query.sortedBy)
    let place = end
    for row in rows {
      tree.insert(row, layout.order)
      rowsByID.update(with: RowByID(row))
    }
    try checkRows(rows, after: place)
    end = last
  }

  /// Throws `corrupt` if rows that were read are not in order, or if a user is in the list twice, as with a damaged index.
  private func checkRows(_ rows: [Row], after start: Row?) throws(StoreError) {
    var previous = start
    for row in rows {
      if let previous, layout.order.compare(previous, row) >= 0 { throw Self.unordered }
      previous = row
    }
    if rowsByID.count != tree.count { throw Self.unordered }
  }

  private static var unordered: StoreError {
    StoreError(.corrupt, "the database is damaged: an index has rows that are not in order")
  }

  // MARK: Following

  /// A new tree is built if more than one in this many rows changes: one change costs about as much as copying this many rows.
  private static let mergingShare = 20

  /// A user before and after a set: nil where the user is not in the list.
  private typealias Transition = (old: Row?, new: Row?)

  mutating func apply(
    _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
  ) throws(StoreError) -> Bool? {
    var transitions: [Transition] = []
    var unknown: [(place: Int, id: User.ID)] = []
    for delta in deltas {
      let old = rowsByID.row(delta.id)
      if let new = row(delta, old) {
        if old != nil || new != nil { transitions.append((old, new)) }
      } else {
        unknown.append((transitions.count, delta.id))
        transitions.append((old, nil))
      }
    }
    if !unknown.isEmpty {
      let isRead = try read(users: unknown.count) { state throws(StoreError) in
        for (place, id) in unknown {
          guard let row = try state.row(id, layout), layout.meets(condition, row) else { continue }
          transitions[place].new = row
        }
      }
      if !isRead { return nil }
    }
    let old = tree
    var isChanged = false
    if transitions.count > 16 + tree.count / Self.mergingShare {
      merge(transitions)
      isChanged = isVisible(since: old)
    } else {
      for transition in transitions where apply(transition) { isChanged = true }
    }
    if let limit = setup.limit, try !adjust(to: limit, read) {
      // Everything is read again, and compared with the rows that listeners have.
      tree = old
      return nil
    }
    if isChanged { (self.cursor, discontinuity) = (cursor, nil) }
    return isChanged
  }

  /// The user's new row, or `.some(nil)` if there is none; nil if the row needs values that neither the set nor the old row has.
  private func row(_ delta: UserDelta, _ old: Row?) -> Row?? {
    if delta.isPurged { return nil }
    if !delta.exists { return .some(nil) }
    let setup = setup
    let values = setup.layout.columns.indices.map { column in
      delta.newValue(setup.layout.columns[column]) ?? old?.values[column]
    }
    let isMet = setup.query.where.node.truth { attribute in
      setup.layout.column(attribute).flatMap { values[$0] }
    }
    if isMet == false || old == nil && isOutside(delta) { return .some(nil) }
    let isWhole = old != nil || !delta.existed
    let known = values.compactMap(\.self)
    guard isMet != nil, isWhole || !setup.layout.showsAll, known.count == values.count else { return nil }
    var others = old?.others ?? [:]
    if setup.layout.showsAll {
      for (attribute, _, new) in delta.changes { others[attribute] = new.isNull ? nil : new }
    }
    return setup.layout.row(delta.id, known, all: others)
  }

  /// Whether a user who was not in the list stays outside, whatever the values are that the set does not have.
  private func isOutside(_ delta: UserDelta) -> Bool {
    let keys = setup.keys
    if keys.contains(where: { delta.newValue($0) == nil }) || keys.isEmpty {
      // Without changed keys, the user is at the same place as before.
      guard delta.existed, !keys.contains(where: delta.changes) else { return false }
      let isAffected = setup.mentioned.contains(where: delta.changes)
      // A user who met the condition, and was not in the list, is beyond its end.
      return !isAffected || condition.node.truth(delta.oldValue) == true
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
    rowsByID.set(new, in: id)
    if let old, let new, wasVisible, isVisible(new) { return !layout.changes(from: old, to: new).isEmpty }
    return wasVisible || isVisible(new)
  }

  private mutating func merge(_ transitions: [Transition]) {
    var new: [Row] = []
    var replaced: Set<User.ID> = []
    for transition in transitions {
      let row = known(transition.new)
      guard let id = (row ?? transition.old)?.id else { continue }
      rowsByID.set(row, in: id)
      replaced.insert(id)
      if let row { new.append(row) }
    }
    new.sort { layout.order.compare($0, $1) < 0 }
    var rows: [Row] = []
    rows.reserveCapacity(tree.count + new.count)
    var next = new[...]
    for row in tree where !replaced.contains(row.id) {
      while let first = next.first, layout.order.compare(first, row) < 0 { rows.append(next.removeFirst()) }
      rows.append(row)
    }
    tree = RowTree(sorted: rows + next)
  }

  /// The row if it is in the part of the order that is known; rows up to the start do not belong to the list.
  private func known(_ row: Row?) -> Row? {
    guard let row else { return nil }
    if let end, layout.order.compare(row, end) > 0 { return nil }
    if let start = setup.start, layout.order.compare(row, start) <= 0 { return nil }
    return row
  }

  /// Whether what listeners see differs from an older tree; takes time for all rows.
  private func isVisible(since old: RowTree) -> Bool {
    func visible(_ tree: RowTree) -> some Sequence<Row> { tree.prefix(setup.limit ?? .max) }
    return !visible(old).elementsEqual(visible(tree)) { $0.id == $1.id && layout.changes(from: $0, to: $1).isEmpty }
  }

  private func isVisible(_ row: Row?) -> Bool {
    guard let row else { return false }
    return setup.limit.map { tree.find(row, layout.order).position < $0 } ?? true
  }

  /// Reads more rows if there are fewer than the limit, and forgets some if there are many more; returns false if it cannot read.
  private mutating func adjust(to limit: Int, _ read: PastReader) throws(StoreError) -> Bool {
    let reserve = setup.reserve(for: limit)
    if tree.count < limit, end != nil {
      return try read { state throws(StoreError) in try refill(limit, state) }
    }
    if tree.count > limit + 2 * reserve {
      for row in tree.suffix(tree.count - limit - reserve) { rowsByID.set(nil, in: row.id) }
      tree.truncate(to: limit + reserve)
      end = tree.last
    }
    return true
  }
}

/// A row that is found by its identifier: a set of these takes half of the memory of a dictionary.
private struct RowByID: Hashable {
  let row: Row

  init(_ row: Row) {
    self.row = row
  }

  static func == (left: RowByID, right: RowByID) -> Bool { left.row.id == right.row.id }
  func hash(into hasher: inout Hasher) { hasher.combine(row.id) }
}

extension Set<RowByID> {
  fileprivate func row(_ id: User.ID) -> Row? {
    guard let index = firstIndex(of: RowByID(Row(id, []))) else { return nil }
    return self[index].row
  }

  fileprivate mutating func set(_ row: Row?, in id: User.ID) {
    if let row { update(with: RowByID(row)) } else { remove(RowByID(Row(id, []))) }
  }
}
