extension UserStore {
  /// One version of a list: the users who meet a query after a change set, in order.
  ///
  /// A version is a value that never changes. Keeping an old version copies nothing, because two versions share the rows that
  /// both have. Comparing two versions takes time only for the rows that differ.
  ///
  ///     list.bind("FirstScreen", on: .latestOnMain, owner: self) { screen, rows in
  ///       screen.table.apply(rows.rowChanges(from: screen.rows))
  ///       screen.rows = rows
  ///     }
  public struct Rows: Sendable {
    let tree: RowTree
    let layout: RowLayout
    /// The number of rows.
    public let count: Int
    /// About how many bytes of memory the rows take, including those beyond the limit that the list keeps; takes constant time.
    ///
    /// For programs that limit what their clients can make them hold.
    public var byteCount: Int { tree.root.byteCount }
    /// The end of the last change set that changed a row; for rows that were read from the store, of the last one that they include.
    ///
    /// It is nil for the version that `init()` creates.
    public let cursor: Cursor?
    /// The reason why this version was read from the store instead of being made from changes in the log; nil for most versions.
    ///
    /// See ``ChangeSet/discontinuity``. The rows and `changes(from:)` are exact nevertheless.
    public let discontinuity: StoreError.Code?

    init(_ tree: RowTree, _ layout: RowLayout, limit: Int?, at cursor: Cursor?, discontinuity: StoreError.Code?) {
      self.tree = tree
      self.layout = layout
      count = Swift.min(tree.count, limit ?? .max)
      self.cursor = cursor
      self.discontinuity = discontinuity
    }

    /// Creates a version without rows: compared with it, all rows of the first version are insertions.
    public init() { self.init(RowTree(), RowLayout(Query()), limit: nil, at: nil, discontinuity: nil) }

    /// Returns the changes that turn another version into this one.
    ///
    /// This takes time for the rows that differ, not for all rows. The other version may belong to a list whose query has
    /// another limit, another start, or other values in its condition. If the order or the attributes differ, all rows are
    /// replaced.
    ///
    /// - Parameter old: The other version, which is usually the one that a view shows.
    /// - Returns: The changes, as steps and as a batch.
    public func rowChanges(from old: Rows) -> RowChanges {
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
  /// Returns whether both versions have the same users with the same values, in the same order.
  public static func == (left: UserStore.Rows, right: UserStore.Rows) -> Bool { left.elementsEqual(right) }
}

package typealias Rows = UserStore.Rows
package typealias RowChanges = UserStore.RowChanges
