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
    guard find(row, order).row != nil else { return }
    root = Self.removing(row, from: root, order)
    while root.children.count == 1 { root = root.children[0] }
    if root.count == 0 { root = Node(rows: []) }
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
      let rows = replacing(index..<(isReplacing ? index + 1 : index), of: node.rows, by: [row])
      return divided(rows) { Node(rows: $0) }
    }
    let index = child(of: node, for: row, order)
    let (child, next) = inserting(row, into: node.children[index], order)
    let new = next.map { [child, $0] } ?? [child]
    return divided(replacing(index..<index + 1, of: node.children, by: new)) { Node(children: $0) }
  }

  private static func divided<Element>(_ elements: [Element], _ make: ([Element]) -> Node) -> (Node, Node?) {
    if elements.count <= width { return (make(elements), nil) }
    let middle = elements.count / 2
    return (make(Array(elements[..<middle])), make(Array(elements[middle...])))
  }

  private static func removing(_ row: Row, from node: Node, _ order: RowOrder) -> Node {
    if node.isLeaf {
      let index = place(of: row, in: node.rows, order)
      return Node(rows: replacing(index..<index + 1, of: node.rows, by: []))
    }
    let index = child(of: node, for: row, order)
    let child = removing(row, from: node.children[index], order)
    if child.size > width / 4 || node.children.count == 1 {
      return Node(children: replacing(index..<index + 1, of: node.children, by: child.count > 0 ? [child] : []))
    }
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
    private var rows: ArraySlice<Row> = []

    init(_ root: Node) { path = RowPath(root) }

    mutating func next() -> Row? {
      while rows.isEmpty {
        guard let node = path.next else { return nil }
        rows = node.rows[...]
        path.open()
      }
      return rows.removeFirst()
    }
  }

  func makeIterator() -> Iterator { Iterator(root) }
}

/// The nodes of a tree that follow a place, in order, as the slices of their parents' children: opening a node copies none.
struct RowPath {
  /// None is empty; the next node is the first of the last slice.
  private var slices: [ArraySlice<RowTree.Node>]

  init(_ root: RowTree.Node) {
    slices = [[root]]
  }

  var next: RowTree.Node? { siblings.first }

  /// The next node, and those after it that have the same parent.
  var siblings: ArraySlice<RowTree.Node> { slices.last ?? [] }

  /// Replaces the next node with its children.
  mutating func open() {
    let children = next?.children ?? []
    skip(1)
    if !children.isEmpty { slices.append(children[...]) }
  }

  /// Removes the next nodes, which have the same parent.
  mutating func skip(_ count: Int) {
    guard count > 0, !slices.isEmpty else { return }
    slices[slices.count - 1].removeFirst(count)
    if slices[slices.count - 1].isEmpty { slices.removeLast() }
  }
}
