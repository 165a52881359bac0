extension UserStore {
  /// One version of a list: the users that met a query after a change set, in order.
  ///
  /// A version is a value that never changes. Keeping an old one copies nothing, because versions share what they have in common;
  /// comparing two takes time for what differs.
  ///
  ///     list.bind("FirstScreen", on: .latestOnMain, owner: self) { screen, rows in
  ///       screen.table.apply(rows.changes(from: screen.rows))
  ///       screen.rows = rows
  ///     }
  public struct Rows: Sendable {
    let tree: RowTree
    let layout: RowLayout
    /// The number of rows that belong to the list; the tree may have more.
    public let count: Int
    /// The end of the last change set that changed a row; nil for the version that `init` creates.
    public let cursor: Cursor?
    /// The reason why this version does not follow from the one before and the log between them; nil for most versions.
    ///
    /// See `ChangeSet.discontinuity`. The rows are those of the store, and `changes(from:)` is as exact as ever.
    public let discontinuity: StoreError.Code?

    init(_ tree: RowTree, _ layout: RowLayout, limit: Int?, at cursor: Cursor?, discontinuity: StoreError.Code?) {
      self.tree = tree
      self.layout = layout
      count = Swift.min(tree.count, limit ?? .max)
      self.cursor = cursor
      self.discontinuity = discontinuity
    }

    /// Creates a version without rows, to compare the first one with.
    public init() { self.init(RowTree(), RowLayout(Query()), limit: nil, at: nil, discontinuity: nil) }

    /// Returns what differs from another version of the same list; steps and batch turn that version exactly into this one.
    ///
    /// Takes time for the rows that differ, not for all. If the versions belong to lists with different orders or attributes,
    /// all rows are replaced.
    public func changes(from old: Rows) -> RowChanges {
      if old.isEmpty || !layout.isSame(as: old.layout) { return RowChanges(replacing: old.count, by: Array(self)) }
      return RowChanges(RowDifference(from: old.tree, old.count, to: tree, count, layout.order), layout)
    }
  }
}

extension UserStore.Rows: RandomAccessCollection {
  /// The position of the first row: 0.
  public var startIndex: Int { 0 }
  /// The position after the last row.
  public var endIndex: Int { count }

  /// The user at a position, with the attributes that the query shows or sorts by; takes logarithmic time.
  public subscript(position: Int) -> UserStore.User {
    precondition(indices.contains(position), "a list of \(count) rows has no row at \(position)")
    return layout.user(tree[position])
  }
}

extension UserStore.Rows: Equatable {
  /// Whether both have the same users with the same values, in the same order.
  public static func == (left: UserStore.Rows, right: UserStore.Rows) -> Bool { left.elementsEqual(right) }
}

package typealias Rows = UserStore.Rows
package typealias RowChanges = UserStore.RowChanges
