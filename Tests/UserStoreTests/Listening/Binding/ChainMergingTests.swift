import TestSupport
import Testing

@testable import UserStore

/// Row D8 of the article “What it grew from”: chains that share a member are one chain.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainMergingTests {
  let faults = Faults()

  @Test func `D8, the shared member may come first or last`() {
    let (a, b, c) = (Thing(number: 1), Thing(), Thing())
    let first = faults.chain("first").bind(a, \.number).bind(b, \.number)
    let second = faults.chain("second").bind(c, \.number).bind(b, \.number)
    #expect(first.members == second.members && first.members.count == 3)
    for source in [a, b, c] {
      source.number += 10
      second.update()
      #expect(Set([a, b, c].map(\.number)) == [source.number])
    }
  }

  @Test func `D8, the head of the chain that was bound to wins, and its members are first`() {
    let (a, b, c) = (Thing(number: 1), Thing(number: 2), Thing(number: 3))
    let joining = faults.chain().bind(a, \.number).bind(b, \.number)
    let bound = faults.chain().bind(c, \.number).bind(b, \.number)
    #expect([a, b, c].map(\.number) == [3, 3, 3])
    c.number = 4
    b.number = 5
    joining.update()
    // In the order of members: c, a, b.
    #expect([a, b, c].map(\.number) == [4, 4, 4])
    _ = bound
  }

  @Test func `D8, three chains, merged in every order of the links, are one, and every handle controls it`() {
    let links = [(0, 1), (2, 3), (4, 5), (1, 2), (3, 4)]
    var failures = 0
    for order in Self.permutations(Array(links.indices)) {
      let things = (0..<6).map { _ in Thing() }
      let handles = order.map { faults.chain().bind(things[links[$0].0], \.number).bind(things[links[$0].1], \.number) }
      for (value, source) in things.enumerated() {
        source.number = value + 100
        handles[value % handles.count].update()
        if Set(things.map(\.number)) != [value + 100] { failures += 1 }
      }
      if Set(handles.map { $0.members.count }) != [6] { failures += 1 }
    }
    #expect(failures == 0)
  }

  @Test
  func
    `D8, of two blocks with the same key, the one of the chain that joins stays; errors go to the member's own chain`()
  {
    let (a, b, c) = (Thing(number: 1), Thing(number: 1), Thing(number: 1))
    let (own, others) = (Faults(), Faults())
    var received: [String] = []
    let joining = others.chain("joining").bind(a, \.number, filter: { $0 < 10 }).bind(b, \.number)
      .on("same") { (_: Int) in received.append("joining") }.on("one") { (_: Int) in received.append("one") }
    let bound = own.chain("bound").bind(c, \.number).on("same") { (_: Int) in received.append("bound") }
    bound.bind(b, \.number)
    c.number = 2
    bound.update()
    #expect(received == ["joining", "one"])
    c.number = 11
    joining.update()
    #expect(own.texts == [] && others.all.map(\.chain) == ["joining"])
  }

  @Test func `D8, directions and filters of the shared member add up`() {
    let (a, b, c) = (Thing(number: 1), Thing(), Thing())
    let chain = faults.chain().bind(a, \.number, .in).bind(b, \.number, .out)
    faults.chain().bind(b, \.number, .in, filter: { $0 < 10 }).bind(c, \.number, .out)
    #expect([b, c].map(\.number) == [1, 1])
    b.number = 2
    chain.update()
    #expect(c.number == 2)
    a.number = 12
    chain.update()
    #expect([a, b, c].map(\.number) == [1, 2, 2])
  }

  @Test func `D8, after merging inside a block of either chain, the rest of the round is delivered`() {
    for isOwn in [true, false] {
      let (a, b, c) = (Thing(number: 1), Thing(number: 1), Thing(number: 1))
      var received: [String] = []
      let other = faults.chain("other").bind(c, \.number).on("other") { (value: Int) in
        received.append("other \(value)")
      }
      let chain = faults.chain("chain").bind(a, \.number).bind(b, \.number)
      chain.on("merges") { [weak chain] (_: Int) in
        if isOwn { chain?.bind(c, \.number, initial: .none) } else { other.bind(a, \.number, initial: .none) }
      }
      chain.on("after") { (value: Int) in received.append("after \(value)") }
      a.number = 5
      chain.update()
      #expect(received == ["after 5"])
      #expect(chain.members.count == 3 && other.members.count == 3)
      c.number = 6
      other.update()
      #expect([a, b, c].map(\.number) == [6, 6, 6])
      #expect(received.sorted() == ["after 5", "after 6", "other 6"])
    }
  }

  @Test func `D8, an edit that was not noticed is propagated in its own chain before the chains join`() {
    let (a, b, c) = (Thing(number: 1), Counted(1), Thing(number: 3))
    faults.chain().bind(a, \.number).bind(b, \.value)
    a.number = 9
    faults.chain().bind(c, \.number).bind(a, \.number)
    #expect(b.writes == [9, 3] && a.number == 3)
  }

  @Test func `random links give the same chains as a simple table of sets`() {
    let seed = Seed.base
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let count = 8
      let things = (0..<count).map { _ in Thing() }
      var sets = Array(0..<count)
      var handles: [BindingChain] = []
      for step in 1...30 {
        let (one, two) = (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
        if Bool.random(using: &random), !handles.isEmpty {
          things[one].number = step
          for handle in handles { handle.update() }
          let expected = sets.indices.filter { sets[$0] == sets[one] }
          let isBound = handles.contains { $0.isBound(things[one]) }
          if isBound, expected.contains(where: { things[$0].number != step }) {
            Issue.record("seed \(seed), step \(step)")
            return
          }
        } else {
          handles.append(faults.chain().bind(things[one], \.number).bind(things[two], \.number))
          let (old, new) = (sets[two], sets[one])
          for index in sets.indices where sets[index] == old { sets[index] = new }
        }
      }
    }
    #expect(faults.texts == [])
  }

  private static func permutations(_ all: [Int]) -> [[Int]] {
    if all.count < 2 { return [all] }
    return all.flatMap { first in permutations(all.filter { $0 != first }).map { [first] + $0 } }
  }
}
