import TestSupport
import Testing

@testable import UserStore

@Suite(.bounded, .serialized) struct BagTests {
  @Test func `B1, an element is removed with its token, once, and the rest stays in order`() {
    var bag = Bag<String>()
    let tokens = ["a", "b", "c", "b"].map { bag.insert($0) }
    #expect(Array(bag) == ["a", "b", "c", "b"])
    #expect(bag.remove(tokens[1]) == "b")
    #expect(bag.remove(tokens[1]) == nil)
    #expect(bag.remove(nil) == nil)
    #expect(Array(bag) == ["a", "c", "b"])
    #expect(bag.count == 3 && bag[2] == "b" && bag.firstIndex(of: "c") == 1)
    #expect(Set(tokens).count == 4)
  }

  @Test func `B1, the token of another bag removes nothing, that of a copy does`() {
    var (bag, other) = (Bag<Int>(), Bag<Int>())
    let token = bag.insert(1)
    _ = other.insert(2)
    #expect(other.remove(token) == nil)
    var copy = bag
    #expect(copy.remove(token) == 1)
    #expect(Array(bag) == [1] && copy.isEmpty && Array(other) == [2])
  }

  @Test func `B1, random insertions and removals agree with an array`() {
    var random = SplitMix64(seed: Seed.base)
    var bag = Bag<Int>()
    var model: [(token: Bag<Int>.Token, element: Int)] = []
    for step in 0..<2_000 {
      if model.isEmpty || random.next() % 3 > 0 {
        model.append((bag.insert(step), step))
      } else {
        let entry = model.remove(at: Int(random.next() % UInt64(model.count)))
        #expect(bag.remove(entry.token) == entry.element)
      }
      #expect(bag.elementsEqual(model.map(\.element)), "seed \(Seed.base)")
    }
  }
}
