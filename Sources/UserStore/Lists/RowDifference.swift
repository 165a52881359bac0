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
      Side.skipShared(&old, &new)
      if let left = old.node, let right = new.node {
        if left.isLeaf == right.isLeaf, left.isLeaf || left.count == right.count {
          old.open()
          new.open()
        } else if !left.isLeaf, right.isLeaf || left.count > right.count {
          // Only the larger one: the smaller may be one of its children.
          old.open()
        } else {
          new.open()
        }
        continue
      }
      let (left, right) = (old.row(), new.row())
      switch (left, right) {
      case (nil, nil): return
      case (let row?, nil): remove(row, &old, new)
      case (nil, let row?): insert(row, old, &new)
      case (let left?, let right?):
        // Opening a node has led to the same rows; they are skipped at the next turn.
        if left === right { continue }
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

  /// A place in one version, and the number of rows before it.
  private struct Side {
    private var path: RowPath
    private(set) var position = 0
    private let end: Int

    init(_ tree: RowTree, _ count: Int) {
      path = RowPath(tree.root)
      end = count
    }

    /// The next node; nil inside of a leaf, and at the end.
    var node: RowTree.Node? { position < end ? path.node : nil }

    mutating func open() { path.open() }

    /// Skips the next nodes or rows as long as both versions have the same before their ends.
    static func skipShared(_ old: inout Side, _ new: inout Side) {
      while true {
        let limit = min(old.end - old.position, new.end - new.position)
        let (count, rows) = RowPath.shared(old.path, new.path, limit: limit)
        if count == 0 { return }
        old.skip(count, rows)
        new.skip(count, rows)
      }
    }

    private mutating func skip(_ count: Int, _ rows: Int) {
      path.skip(count)
      position += rows
    }

    /// The next row; opens the nodes before it.
    mutating func row() -> Row? {
      guard position < end else { return nil }
      while path.node != nil { path.open() }
      return path.row
    }

    mutating func advance() { skip(1, 1) }
  }
}
