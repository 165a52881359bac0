import TestSupport
import Testing

@testable import UserStore

/// How much memory users and lists say they take.
@Suite(.bounded, .serialized) struct MemoryTests {
  @Test func `the memory of a tree is that of its rows after any changes`() {
    var random = SplitMix64(seed: Seed.base)
    let order = RowLayout(Query()).order
    var (tree, rows): (RowTree, [User.ID: Row]) = (RowTree(), [:])
    for _ in 0..<2_000 {
      let id = User.ID(Int64.random(in: 0..<300, using: &random))
      if random.oneIn(3) {
        tree.remove(Row(id, []), order)
        rows[id] = nil
      } else {
        let text = StoredValue.text(String(repeating: "x", count: Int.random(in: 0...1_000, using: &random)))
        let row = Row(id, [], others: ["text": text])
        tree.insert(row, order)
        rows[id] = row
      }
      #expect(tree.root.byteCount == rows.values.reduce(0) { $0 + $1.byteCount }, "USERSTORE_SEED=\(Seed.base)")
    }
    #expect(RowTree(sorted: Array(tree)).root.byteCount == tree.root.byteCount)
  }

  @Test func `a list counts the rows beyond its limit, and every kind of value`() throws {
    let store = try UserStore.forTests()
    let size = 100_000
    let values: [StoredValue] = [
      .text(String(repeating: "é", count: size / 2)), .blob([UInt8](repeating: 1, count: size)),
      .text(String(repeating: "x", count: size)), .integer(1), .real(1.5),
    ]
    try store.write { users in
      for (index, value) in values.enumerated() {
        let id = try users.add(name: "u\(index)")
        try users.set("value", of: id, to: value)
      }
    }
    let list = try store.list(Query(sortedBy: [.ascending(.name)], limit: 1))
    #expect((3 * size..<4 * size).contains(list.value.byteCount))
    let all = try store.read { try $0.users() }
    #expect(all.prefix(3).allSatisfy { (size..<size + 1_000).contains($0.byteCount) })
    #expect(all.dropFirst(3).allSatisfy { (1..<1_000).contains($0.byteCount) })
    try store.write { users in try users.set("value", of: all[0].id, to: .null) }
    #expect((2 * size..<3 * size).contains(list.value.byteCount))
  }
}
