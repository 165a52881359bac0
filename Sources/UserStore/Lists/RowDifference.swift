/// Where two versions of a list differ, in the order of the rows: found by skipping the nodes that both versions share.
struct RowDifference {
  struct Entry {
    let row: Row
    /// Whether the row is in the new version, and not in the old one.
    let isNew: Bool
    let oldPosition: Int
    let newPosition: Int
  }

  private(set) var entries: [Entry] = []

  /// Compares the first `oldCount` rows of a version with the first `newCount` of another; both are in this order.
  init(from old: RowTree, _ oldCount: Int, to new: RowTree, _ newCount: Int, _ order: RowOrder) {
    var (old, new) = (Side(old, oldCount), Side(new, newCount))
    while true {
      if let left = old.node, let right = new.node {
        if left === right, Side.skipShared(&old, &new) { continue }
        if left.isLeaf == right.isLeaf, left.isLeaf || left.count == right.count {
          old.openNode(left)
          new.openNode(right)
        } else if !left.isLeaf, right.isLeaf || left.count > right.count {
          // Only the larger one: the smaller may be one of its children.
          old.openNode(left)
        } else {
          new.openNode(right)
        }
        continue
      }
      let (left, right) = (old.row(), new.row())
      switch (left, right) {
      case (nil, nil): return
      case (let row?, nil): remove(row, &old, new)
      case (nil, let row?): insert(row, old, &new)
      case (let left?, let right?):
        if left === right {
          old.advance()
          new.advance()
          continue
        }
        let comparison = order.compare(left, right)
        if comparison <= 0 { remove(left, &old, new) }
        if comparison >= 0 { insert(right, old, &new) }
      }
    }
  }

  private mutating func remove(_ row: Row, _ old: inout Side, _ new: Side) {
    entries.append(Entry(row: row, isNew: false, oldPosition: old.position, newPosition: new.position))
    old.advance()
  }

  private mutating func insert(_ row: Row, _ old: Side, _ new: inout Side) {
    entries.append(Entry(row: row, isNew: true, oldPosition: old.position, newPosition: new.position))
    new.advance()
  }

  /// A place in one version: before a node, or inside of a leaf.
  private struct Side {
    private var path: RowPath
    private var rows: ArraySlice<Row> = []
    private(set) var position = 0
    private let end: Int

    init(_ tree: RowTree, _ count: Int) {
      path = RowPath(tree.root)
      end = count
    }

    /// The next node; nil inside of a leaf, and at the end.
    var node: RowTree.Node? { rows.isEmpty && position < end ? path.next : nil }

    /// Skips the next nodes as long as both versions have the same before their ends; returns false if there are none.
    static func skipShared(_ old: inout Side, _ new: inout Side) -> Bool {
      var (nodes, rows) = (0, 0)
      let limit = min(old.end - old.position, new.end - new.position)
      for (left, right) in zip(old.path.siblings, new.path.siblings) {
        guard left === right, rows + left.count <= limit else { break }
        nodes += 1
        rows += left.count
      }
      old.path.skip(nodes)
      new.path.skip(nodes)
      old.position += rows
      new.position += rows
      return nodes > 0
    }

    mutating func openNode(_ node: RowTree.Node) {
      rows = node.rows[...]
      path.open()
    }

    /// The next row; opens the nodes before it.
    mutating func row() -> Row? {
      while let node { openNode(node) }
      return position < end ? rows.first : nil
    }

    mutating func advance() {
      rows.removeFirst()
      position += 1
    }
  }
}
