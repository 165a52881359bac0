import Testing

@testable import UserStore

/// Row D11 of the article “What it grew from”: no endless rounds.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainLoopTests {
  let faults = Faults()
  let a = Thing(number: 1)
  let b = Thing()

  @Test func `converters that are not inverse to each other stop after one round`() {
    let observed = Counted(0)
    let chain = faults.chain().bind(a, \.number)
      .bind(
        observed, \.value, converting: .both(incoming: { (number: Int) in number * 3 }, outgoing: { $0 + 1 }))
    #expect(a.number == 1 && observed.value == 3)
    a.number = 2
    chain.update()
    chain.update()
    #expect(a.number == 2 && observed.writes == [3, 6])
    observed.value = 10
    chain.update()
    chain.update()
    #expect(a.number == 11 && observed.value == 10)
    #expect(faults.texts == [])
  }

  @Test func `converters that are not inverse to each other stop between observed objects too`() async {
    let (one, two) = (ObservedThing(), ObservedThing())
    let chain = faults.chain().bind(one, \.number)
      .bind(two, \.number, converting: .both(incoming: { (number: Int) in number * 3 }, outgoing: { $0 + 1 }))
    one.number = 2
    await turns { two.number == 6 }
    await turns()
    #expect(one.number == 2 && two.number == 6)
    two.number = 9
    await turns { one.number == 10 }
    await turns()
    #expect(one.number == 10 && two.number == 9)
    _ = chain
  }

  @Test func `a setter that corrects its value makes its member the source of the next round`() {
    let even = EvenNumber()
    var received: [Int] = []
    let chain = faults.chain().bind(a, \.number).bind(even, \.number).on("block") { received.append($0) }
    #expect(a.number == 2 && even.number == 2)
    a.number = 7
    chain.update()
    #expect(a.number == 8 && even.number == 8 && received == [7, 8])
    let only = EvenNumber()
    chain.bind(only, \.number, .out)
    a.number = 9
    chain.update()
    #expect(a.number == 10 && even.number == 10 && only.number == 10)
  }

  @Test func `setters that correct each other forever are stopped and named, and the chain still works`() {
    let (even, odd) = (EvenNumber(), OddNumber())
    let chain = faults.chain("odd and even").bind(even, \.number, initial: .none).bind(odd, \.number, initial: .none)
    even.number = 4
    chain.update()
    #expect(faults.all.count == 1)
    guard let names = faults.rounds else { return #expect(Bool(false)) }
    #expect(Set(names.map { $0.prefix { $0 != " " } }) == ["OddNumber.(Int)", "EvenNumber.(Int)"])
    chain.update()
    #expect(faults.all.count == 1)
    chain.unbind(odd)
    chain.bind(b, \.number)
    even.number = 6
    chain.update()
    #expect(b.number == 6)
  }

  @Test func `a block that changes a member causes a round after the present one, and no recursion`() {
    var (received, depth) = ([String](), 0)
    let chain = faults.chain().bind(a, \.number).bind(b, \.number)
    chain.on("adds") { [a, weak chain] (value: Int) in
      depth += 1
      received.append("adds \(value)")
      if value < 500 {
        a.number = value + 1
        chain?.update()
      }
      #expect(depth == 1)
      depth -= 1
    }
    .on("records") { [b] (value: Int) in received.append("records \(value) \(b.number)") }
    a.number = 2
    chain.update()
    #expect(received == (2...500).flatMap { ["adds \($0)", "records \($0) \($0)"] })
    #expect(a.number == 500 && b.number == 500)
  }

  @Test func `a block that feeds itself forever is stopped and named`() {
    let chain = faults.chain().bind(a, \.number).bind(b, \.number)
    chain.on("feeds") { [a, weak chain] (value: Int) in
      a.number = value + 1
      chain?.update()
    }
    a.number = 2
    chain.update()
    #expect(faults.all.count == 1)
    guard faults.rounds == ["feeds"] else {
      return #expect(Bool(false), "\(faults.texts)")
    }
  }

  @Test func `a block that feeds itself through an observed object is stopped and named`() async {
    let observed = ObservedThing()
    let chain = faults.chain().bind(observed, \.number).bind(b, \.number)
      .on("feeds") { (value: Int) in observed.number = value + 1 }
    observed.number = 1
    await turns { !faults.all.isEmpty }
    guard faults.rounds == ["feeds"] else {
      return #expect(Bool(false), "\(faults.texts)")
    }
    let stopped = observed.number
    await turns()
    #expect(observed.number == stopped && faults.all.count == 1)
    _ = chain
  }

  @Test func `two chains that feed each other by their blocks are stopped and named`() {
    let (left, right) = (faults.chain("left").bind(a, \.number), faults.chain("right").bind(b, \.number))
    left.on("left") { [b, weak right] (value: Int) in
      b.number = value + 1
      right?.update()
    }
    right.on("right") { [a, weak left] (value: Int) in
      a.number = value + 1
      left?.update()
    }
    a.number = 2
    left.update()
    #expect(faults.all.count == 1)
    guard let names = faults.rounds else { return #expect(Bool(false)) }
    #expect(Set(names) == ["left", "right"])
  }

  @Test func `objects that are equal but not identical count as equal`() {
    final class Card: Equatable {
      let number: Int
      init(_ number: Int) { self.number = number }
      static func == (left: Card, right: Card) -> Bool { left.number == right.number }
    }
    let (one, two) = (Counted(Card(1)), Counted(Card(1)))
    let chain = faults.chain().bind(one, \.value).bind(two, \.value)
    one.value = Card(1)
    chain.update()
    #expect(two.writes.isEmpty && two.value !== one.value)
    one.value = Card(2)
    chain.update()
    #expect(two.value === one.value)
  }

  @Test func `text that differs only in its bytes is another value`() {
    let (one, two) = (Counted("\u{e9}"), Counted("e\u{301}"))
    faults.chain().bind(one, \.value).bind(two, \.value)
    #expect(two.writes.count == 1 && Array(two.value.utf8) == Array("\u{e9}".utf8))
  }

  @Test func `NaN is propagated once`() {
    let (one, two) = (Counted(1.0), Counted(1.0))
    let chain = faults.chain().bind(one, \.value).bind(two, \.value)
    one.value = .nan
    chain.update()
    chain.update()
    #expect(two.value.isNaN && two.writes.count == 1)
  }

  @Test func `observed values that cannot be compared are not sent back and forth`() async {
    let (one, two) = (ObservedThing(), ObservedThing())
    var rounds = 0
    let chain = faults.chain().bind(one, \.plain).bind(two, \.plain).on("counts") { (_: Plain) in rounds += 1 }
    one.plain = Plain(number: 1)
    await turns { two.plain.number == 1 }
    two.plain = Plain(number: 2)
    await turns { one.plain.number == 2 }
    await turns()
    #expect(rounds == 2 && chain.members.count == 2)
  }

  @Test func `a value that cannot be compared has changed when its source reports a change`() {
    let (one, two) = (Counted(Plain()), Counted(Plain()))
    let chain = faults.chain().bind(one, \.value).bind(two, \.value)
    let before = two.writes.count
    one.value = Plain(number: 5)
    chain.update()
    #expect(two.writes.count == before)
    chain.update(one)
    #expect(two.value.number == 5 && two.writes.count == before + 1)
    two.value = Plain(number: 6)
    chain.update(two)
    #expect(one.value.number == 6)
  }
}
