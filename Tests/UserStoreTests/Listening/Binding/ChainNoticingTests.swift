import Testing

@testable import UserStore

/// How a chain notices changes.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainNoticingTests {
  let faults = Faults()

  @Test func `changes of an observed object are noticed in the next turn, and values in between are skipped`() async {
    let (model, label) = (ObservedThing(), Counted(0))
    let chain = faults.chain().bind(model, \.number).bind(label, \.value, .out)
    for number in 1...10 { model.number = number }
    #expect(label.writes == [])
    await turns { label.value == 10 }
    #expect(label.writes == [10])
    model.number = 11
    await turns { label.value == 11 }
    _ = chain
  }

  @Test func `observed objects on both sides follow each other without echo`() async {
    let (one, two) = (ObservedThing(), ObservedThing())
    var received: [Int] = []
    let chain = faults.chain().bind(one, \.number).bind(two, \.number).on("block") { received.append($0) }
    for number in 1...100 {
      (number % 2 == 0 ? one : two).number = number
      await turns { one.number == number && two.number == number }
    }
    await turns()
    #expect(received == Array(1...100))
    _ = chain
  }

  @Test func `an edit that was not noticed is propagated before its member is overwritten`() {
    let (a, b, c) = (Thing(number: 1), Thing(), Thing())
    var received: [Int] = []
    let chain = faults.chain().bind(a, \.number).bind(b, \.number).bind(c, \.number).on("all") { received.append($0) }
    (b.number, c.number) = (2, 3)
    chain.update(c)
    #expect(received == [2, 3] && [a, b, c].map(\.number) == [3, 3, 3])
    (b.number, c.number, a.number) = (4, 5, 6)
    chain.update(b)
    #expect(received == [2, 3, 6, 5, 4] && [a, b, c].map(\.number) == [4, 4, 4])
  }

  @Test func `if one of two edits is refused, the other one stays`() {
    let (a, b) = (Thing(number: 1), Thing())
    let chain = faults.chain().bind(a, \.number).bind(b, \.number, filter: { $0 < 10 })
    (a.number, b.number) = (12, 3)
    chain.update(a)
    #expect([a, b].map(\.number) == [3, 3] && faults.all.count == 1)
    (a.number, b.number) = (4, 13)
    chain.update(a)
    #expect([a, b].map(\.number) == [4, 4] && faults.all.count == 2)
  }

  @Test func `a listenable with its source is a member`() async {
    let (source, name) = Listenable.make("NIX")
    let field = Thing()
    let received = Recorder<String>()
    name.bind("all") { received.record($0) }
    let chain = faults.chain().bind(name, source).bind(field, \.text)
    #expect(field.text == "NIX")
    source.send("Zoë")
    await turns { field.text == "Zoë" }
    field.text = "Zoe"
    chain.update()
    #expect(name.value == "Zoe" && received.all == ["Zoë", "Zoe"])
    await turns()
    #expect(field.text == "Zoe" && received.count == 2)
  }

  @Test func `a value that others sent before an own value, and that arrives after it, has no effect`() async {
    let (source, name) = Listenable.make("NIX")
    let (field, label) = (Thing(), Counted(""))
    let chain = faults.chain().bind(name, source).bind(field, \.text).bind(label, \.value, .out)
    source.send("theirs")
    field.text = "mine"
    chain.update()
    await turns()
    #expect(label.writes == ["NIX", "mine"] && field.text == "mine" && name.value == "mine")
    source.send("later")
    await turns { field.text == "later" }
  }

  @Test func `a chain follows a listenable that others change to its last value, without echo`() async throws {
    let (source, number) = Listenable.make(0)
    let thing = Thing()
    let received = Recorder<Int>()
    number.bind("all") { received.record($0) }
    let chain = faults.chain().bind(number, source).bind(thing, \.number)
    let other = try Threads.start { for value in 1...500 { source.send(value) } }
    for value in 1...500 {
      thing.number = -value
      chain.update()
      if value % 50 == 0 { await Task.yield() }
    }
    try await other.joined()
    await turns { thing.number == number.value }
    await turns()
    #expect(thing.number == number.value && received.all.last == number.value)
    #expect(received.all.filter { $0 > 0 } == Array(1...500))
    #expect(received.all.filter { $0 < 0 } == (1...500).map { -$0 })
  }

  @Test func `a listenable without its source only sends, and leaves when its source is released`() async {
    var made: (source: SignalSource<Int>, listenable: Listenable<Int>)? = Listenable.make(1)
    let thing = Thing()
    let chain = faults.chain().bind(made!.listenable, nil).bind(thing, \.number)
    thing.number = 5
    chain.update()
    #expect(made?.listenable.value == 1)
    let listenable = made!.listenable
    made = nil
    await turns { !chain.isBound(listenable) }
    #expect(chain.members == ["Thing.number"] && faults.texts == [])
  }

  @Test func `a listenable that is bound again with its source receives values`() async {
    let (source, number) = Listenable.make(1)
    let thing = Thing()
    let chain = faults.chain().bind(number, nil).bind(thing, \.number).bind(number, source)
    thing.number = 5
    chain.update()
    await turns()
    #expect(number.value == 5 && thing.number == 5)
    chain.bind(number, nil)
    thing.number = 6
    chain.update()
    #expect(number.value == 6 && thing.number == 6 && faults.texts == [])
  }

  @Test func `after a listenable is bound again, an own value that was not delivered yet hides no later values`() async
  {
    let (source, number) = Listenable.make(1)
    let thing = Thing()
    let chain = faults.chain().bind(number, source).bind(thing, \.number)
    thing.number = 2
    chain.update()
    chain.bind(number, source)
    source.send(3)
    await turns { thing.number == 3 }
    #expect(thing.number == 3 && number.value == 3)
  }

  @Test func `a listenable that is bound again loses no value that was not delivered yet`() async {
    let (source, number) = Listenable.make(1)
    let thing = Thing()
    let chain = faults.chain().bind(number, source).bind(thing, \.number)
    source.send(2)
    chain.bind(number, source)
    await turns { thing.number == 2 }
    #expect(thing.number == 2 && number.value == 2)
  }

  @Test func `an observed property that is bound again loses no change that was not noticed yet`() async {
    let (model, label) = (ObservedThing(), Counted(0))
    let chain = faults.chain().bind(model, \.number).bind(label, \.value, .out)
    model.number = 1
    chain.bind(model, \.number)
    await turns { label.value == 1 }
    #expect(label.writes == [1])
  }

  @Test func `a property with its own events that is bound again loses no event that was not delivered yet`() async {
    let (field, label) = (Thing(), Counted(0))
    let (source, tapped) = Signal<Void>.make()
    let chain = faults.chain().bind(field, \.number, events: tapped).bind(label, \.value, .out)
    field.number = 1
    source.send(())
    chain.bind(field, \.number)
    await turns { label.value == 1 }
    #expect(label.writes == [1])
  }

  @Test func `a round that starts inside a transaction runs after it`() throws {
    let store = try UserStore.forTests()
    let (a, b) = (Thing(number: 1), Thing())
    let chain = faults.chain().bind(a, \.number).bind(b, \.number)
    try store.write { users in
      try users.add(name: "NIX")
      a.number = 2
      chain.update()
      #expect(b.number == 1)
    }
    #expect(b.number == 2)
  }
}
