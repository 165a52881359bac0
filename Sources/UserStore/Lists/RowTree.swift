/// Rows in order, as a tree that is never changed: a new version shares all nodes except those on the paths to changed rows.
///
/// A B-tree whose nodes know how many rows they have, so that a row is found by its place and by its key in logarithmic time.
/// Two versions are compared by skipping the nodes that they share (`RowDifference`).
struct RowTree: Sendable {
  /// The largest number of rows in a leaf, and of children in an inner node: a change copies one node of each level.
  static let width = 16

  final class Node: Sendable {
    let rows: [Row]
    /// The children of an inner node; all leaves have the same depth.
    let children: [Node]
    /// The number of rows below, about how much memory they take, and the last of them.
    let count: Int
    let byteCount: Int
    let last: Row?

    init(rows: [Row]) {
      self.rows = rows
      children = []
      count = rows.count
      byteCount = rows.reduce(0) { $0 + $1.byteCount }
      last = rows.last
    }

    init(children: [Node]) {
      rows = []
      self.children = children
      count = children.reduce(0) { $0 + $1.count }
      byteCount = children.reduce(0) { $0 + $1.byteCount }
      last = children.last?.last
    }

    /// A copy with another child.
    ///
    /// The numbers of the others are not added up again: most are not in the processor's cache.
    init(_ node: Node, _ index: Int, child: Node) {
      var children = node.children
      let old = exchange(&children[index], with: child)
      rows = []
      count = node.count - old.count + child.count
      byteCount = node.byteCount - old.byteCount + child.byteCount
      last = index == children.count - 1 ? child.last : node.last
      self.children = children
    }

    /// A copy of a leaf with another row at a place in the order.
    init(_ node: Node, _ index: Int, row: Row) {
      var rows = node.rows
      let old = exchange(&rows[index], with: row)
      children = []
      count = node.count
      byteCount = node.byteCount - old.byteCount + row.byteCount
      last = index == rows.count - 1 ? row : node.last
      self.rows = rows
    }

    var isLeaf: Bool { children.isEmpty }

    var size: Int { isLeaf ? rows.count : children.count }
  }

  private(set) var root = Node(rows: [])

  var count: Int { root.count }

  init() {}

  init(sorted rows: [Row]) {
    root = Self.joined(Self.chunks(rows).map { Node(rows: Array($0)) })
  }

  subscript(_ position: Int) -> Row {
    var (node, position) = (root, position)
    while !node.isLeaf {
      var index = 0
      while position >= node.children[index].count {
        position -= node.children[index].count
        index += 1
      }
      node = node.children[index]
    }
    return node.rows[position]
  }

  var last: Row? { root.last }

  /// The number of rows before the place of `row`, and the row that is there.
  func find(_ row: Row, _ order: RowOrder) -> (position: Int, row: Row?) {
    var (node, position) = (root, 0)
    while !node.isLeaf {
      let index = Self.child(of: node, for: row, order)
      for child in node.children[..<index] { position += child.count }
      node = node.children[index]
    }
    let index = Self.place(of: row, in: node.rows, order)
    let found = index < node.rows.count && order.compare(node.rows[index], row) == 0 ? node.rows[index] : nil
    return (position + index, found)
  }

  /// Inserts a row, or replaces the row at its place in the order.
  mutating func insert(_ row: Row, _ order: RowOrder) {
    let (node, next) = Self.inserting(row, into: root, order)
    root = next.map { Node(children: [node, $0]) } ?? node
  }

  /// Removes the row that is at this place in the order, if there is one.
  mutating func remove(_ row: Row, _ order: RowOrder) {
    guard let rest = Self.removing(row, from: root, order) else { return }
    root = rest
    while root.children.count == 1 { root = root.children[0] }
  }

  mutating func truncate(to count: Int) {
    if count < self.count { self = RowTree(sorted: Array(self).prefix(count).map { $0 }) }
  }

  // MARK: Nodes

  /// The root of nodes of one depth.
  private static func joined(_ nodes: [Node]) -> Node {
    var nodes = nodes
    while nodes.count > 1 { nodes = chunks(nodes).map { Node(children: Array($0)) } }
    return nodes.first ?? Node(rows: [])
  }

  /// Divides elements evenly among as few nodes as possible.
  private static func chunks<Element>(_ elements: [Element]) -> [ArraySlice<Element>] {
    let parts = (elements.count + width - 1) / width
    return (0..<parts).map { elements[elements.count * $0 / parts..<elements.count * ($0 + 1) / parts] }
  }

  /// The first position whose row is not before `row`.
  private static func place(of row: Row, in rows: [Row], _ order: RowOrder) -> Int {
    first(in: rows.count) { order.compare(rows[$0], row) >= 0 }
  }

  /// The first child whose last row is not before `row`; the last one if there is none.
  private static func child(of node: Node, for row: Row, _ order: RowOrder) -> Int {
    first(in: node.children.count - 1) { index in node.children[index].last.map { order.compare($0, row) >= 0 } ?? true
    }
  }

  /// The first index below `count` that meets a condition, which all after it meet too; `count` if there is none.
  private static func first(in count: Int, where isMet: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isMet(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The node in place of `node`, and a second one if it was full.
  private static func inserting(_ row: Row, into node: Node, _ order: RowOrder) -> (Node, Node?) {
    if node.isLeaf {
      let index = place(of: row, in: node.rows, order)
      let isReplacing = index < node.rows.count && order.compare(node.rows[index], row) == 0
      if isReplacing { return (Node(node, index, row: row), nil) }
      return divided(replacing(index..<index, of: node.rows, by: [row])) { Node(rows: $0) }
    }
    let index = child(of: node, for: row, order)
    let (child, next) = inserting(row, into: node.children[index], order)
    guard let next else { return (Node(node, index, child: child), nil) }
    return divided(replacing(index..<index + 1, of: node.children, by: [child, next])) { Node(children: $0) }
  }

  private static func divided<Element>(_ elements: [Element], _ make: ([Element]) -> Node) -> (Node, Node?) {
    if elements.count <= width { return (make(elements), nil) }
    let middle = elements.count / 2
    return (make(Array(elements[..<middle])), make(Array(elements[middle...])))
  }

  /// The node without a row; nil if it does not have it.
  private static func removing(_ row: Row, from node: Node, _ order: RowOrder) -> Node? {
    if node.isLeaf {
      let index = place(of: row, in: node.rows, order)
      guard index < node.rows.count, order.compare(node.rows[index], row) == 0 else { return nil }
      return Node(rows: replacing(index..<index + 1, of: node.rows, by: []))
    }
    let index = child(of: node, for: row, order)
    guard let child = removing(row, from: node.children[index], order) else { return nil }
    if child.size > width / 4 { return Node(node, index, child: child) }
    // Merged with a neighbor, so that nodes do not become small.
    let pair = index > 0 ? index - 1..<index + 1 : index..<index + 2
    let (left, right) = index > 0 ? (node.children[index - 1], child) : (child, node.children[index + 1])
    let nodes =
      child.isLeaf
      ? chunks(left.rows + right.rows).map { Node(rows: Array($0)) }
      : chunks(left.children + right.children).map { Node(children: Array($0)) }
    return Node(children: replacing(pair, of: node.children, by: nodes))
  }

  /// Not `replaceSubrange`, which would double the array's capacity: nodes are never changed.
  private static func replacing<Element>(
    _ range: Range<Int>, of elements: [Element], by new: [Element]
  ) -> [Element] {
    var result: [Element] = []
    result.reserveCapacity(elements.count - range.count + new.count)
    result += elements[..<range.lowerBound]
    result += new
    result += elements[range.upperBound...]
    return result
  }
}

extension RowTree: Sequence {
  struct Iterator: IteratorProtocol {
    private var path: RowPath

    init(_ root: Node) { path = RowPath(root) }

    mutating func next() -> Row? {
      while path.node != nil { path.open() }
      guard let row = path.row else { return nil }
      path.skip(1)
      return row
    }
  }

  func makeIterator() -> Iterator { Iterator(root) }
}

/// A place in a tree: before a node, before a row of a leaf, or at the end.
struct RowPath {
  /// The opened nodes, from the root, each with the index of its next child or row, which it has.
  private var opened: [(node: RowTree.Node, next: Int)] = []

  /// The place before the first child or row of a tree.
  init(_ root: RowTree.Node) {
    if root.size == 0 { return }
    opened.reserveCapacity(8)
    opened.append((root, 0))
  }

  /// The next node; nil inside of a leaf, and at the end.
  var node: RowTree.Node? {
    guard let (parent, next) = opened.last, !parent.isLeaf else { return nil }
    return parent.children[next]
  }

  /// The next row; nil before a node, and at the end.
  var row: Row? {
    guard let (leaf, next) = opened.last, leaf.isLeaf else { return nil }
    return leaf.rows[next]
  }

  /// Moves before the first child or row of the next node.
  mutating func open() {
    if let node { opened.append((node, 0)) }
  }

  /// Moves behind the next children or rows, which have the same parent.
  mutating func skip(_ count: Int) {
    var count = count
    while let last = opened.indices.last, count > 0 {
      opened[last].next += count
      if opened[last].next < opened[last].node.size { return }
      opened.removeLast()
      count = 1
    }
  }

  /// How many of the next children, or rows of a leaf, are the same in both paths, and how many rows these are, at most `limit`.
  static func shared(_ left: RowPath, _ right: RowPath, limit: Int) -> (count: Int, rows: Int) {
    guard let (left, start) = left.opened.last, let (right, other) = right.opened.last, left.isLeaf == right.isLeaf
    else { return (0, 0) }
    var (count, rows) = (0, 0)
    let last = min(left.size - start, right.size - other)
    if left.isLeaf {
      while rows < min(last, limit), left.rows[start + rows] === right.rows[other + rows] { rows += 1 }
      return (rows, rows)
    }
    while count < last, left.children[start + count] === right.children[other + count] {
      let size = left.children[start + count].count
      if rows + size > limit { break }
      count += 1
      rows += size
    }
    return (count, rows)
  }
}
