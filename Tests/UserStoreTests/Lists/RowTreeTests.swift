import TestSupport
import Testing

@testable import UserStore

/// The tree of rows, compared with an array.
@Suite(.bounded, .serialized) struct RowTreeTests {
  private let layout = RowLayout(Query(sortedBy: [SortKey("key")]))

  private func row(_ id: Int, _ key: Int) -> Row { Row(User.ID(Int64(id)), [.integer(Int64(key))]) }

  private func ids(_ tree: RowTree) -> [Int64] { tree.map(\.id.rawValue) }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `after random changes, it has the rows of a sorted array, and old versions stay`(_ index: UInt64) {
    var random = SplitMix64(seed: Seed.base &+ index)
    var (tree, rows): (RowTree, [Row]) = (RowTree(), [])
    var versions: [(RowTree, [Int64])] = []
    for step in 0..<3_000 {
      // It grows to some hundred rows, and shrinks to none.
      let isGrowing = step % 1_000 < 600
      if isGrowing != random.oneIn(4) || rows.isEmpty {
        let new = row(step, Int.random(in: 0..<50, using: &random))
        rows.insert(new, at: rows.firstIndex { layout.order.compare($0, new) > 0 } ?? rows.count)
        tree.insert(new, layout.order)
      } else {
        tree.remove(rows.remove(at: Int.random(in: rows.indices, using: &random)), layout.order)
      }
      if step % 100 == 0 { versions.append((tree, ids(tree))) }
      guard step % 20 == 0, let some = rows.randomElement(using: &random) else { continue }
      #expect(ids(tree) == rows.map(\.id.rawValue) && tree.count == rows.count)
      let place = rows.firstIndex { $0 === some }
      #expect(tree.find(some, layout.order).position == place && tree.find(some, layout.order).row === some)
      #expect(tree[place ?? 0] === some)
    }
    for (version, ids) in versions { #expect(self.ids(version) == ids) }
  }

  @Test func `two versions share all nodes but those on the way to the difference`() {
    let old = RowTree(sorted: (0..<100_000).map { row($0, $0) })
    var new = old
    new.insert(row(200_000, 50_000), layout.order)
    func nodes(_ tree: RowTree) -> Set<ObjectIdentifier> {
      var (all, open): (Set<ObjectIdentifier>, [RowTree.Node]) = ([], [tree.root])
      while let node = open.popLast() {
        all.insert(ObjectIdentifier(node))
        open += node.children
      }
      return all
    }
    #expect(nodes(new).subtracting(nodes(old)).count < 10)
    let difference = RowDifference(from: old, old.count, to: new, new.count, layout.order)
    #expect(difference.entries.map(\.row.id.rawValue) == [200_000])
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `the difference of two versions with limits has exactly the rows that differ`(_ index: UInt64) {
    var random = SplitMix64(seed: Seed.base &+ index)
    var tree = RowTree(sorted: (0..<600).map { row($0, $0 / 3) })
    var rows = Array(tree)
    for round in 0..<20 {
      let old = tree
      for step in 0..<random.choose(1, 1, 2, 5, 40) {
        let place = Int.random(in: rows.indices, using: &random)
        tree.remove(rows[place], layout.order)
        // Half of them come back at another place, or at the same with another value.
        let id = Int(rows[place].id.rawValue)
        rows.remove(at: place)
        let key = Int.random(in: 0..<200, using: &random)
        let new = random.oneIn(2) ? row(id, key) : row(1_000 * (round + 1) + step, key)
        tree.insert(new, layout.order)
        rows.append(new)
      }
      let limits = (0..<2).map { _ in random.choose(10, 100, 300, 590, 1_000) }
      let before = Rows(old, layout, limit: limits[0], at: nil, discontinuity: nil)
      let after = Rows(tree, layout, limit: limits[1], at: nil, discontinuity: nil)
      let changes = after.rowChanges(from: before)
      #expect(Array(before).applying(changes.steps) == Array(after), "USERSTORE_SEED=\(Seed.base &+ index)")
      #expect(Array(before).applying(changes, to: after) == Array(after))
      let difference = RowDifference(from: old, before.count, to: tree, after.count, layout.order)
      let (left, right) = (Array(old.prefix(before.count)), Array(tree.prefix(after.count)))
      let (leftIDs, rightIDs) = (Set(left.map { ObjectIdentifier($0) }), Set(right.map { ObjectIdentifier($0) }))
      let removed = difference.entries.filter { !$0.isNew }.map { ObjectIdentifier($0.row) }
      let inserted = difference.entries.filter(\.isNew).map { ObjectIdentifier($0.row) }
      #expect(removed == left.map { ObjectIdentifier($0) }.filter { !rightIDs.contains($0) })
      #expect(inserted == right.map { ObjectIdentifier($0) }.filter { !leftIDs.contains($0) })
    }
  }

  @Test func `lists of different orders or attributes replace all rows`() throws {
    let store = try UserStore.forTests()
    try store.write { transaction in for name in ["a", "b"] { try transaction.add(name: name) } }
    let up = try store.list(Query(sortedBy: [.ascending(.name)])).value
    let down = try store.list(Query(sortedBy: [.descending(.name)])).value
    let changes = down.rowChanges(from: up)
    #expect(changes.deletions == [0, 1] && changes.insertions == [0, 1])
    #expect(Array(up).applying(changes.steps) == Array(down))
    #expect(up != down && up.rowChanges(from: up).isEmpty)
  }
}
