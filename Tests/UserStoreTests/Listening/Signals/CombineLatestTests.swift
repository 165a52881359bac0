import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CombineLatestTests {
  @Test func `two attributes that change in one write give one value, two writes give two`() throws {
    let store = try UserStore.forTests()
    let id = try store.write { try $0.add(name: "NIX", hairColor: Color("black")) }
    let name = try store.listenable(.name, of: id).signal
    let color = try store.listenable(.hairColor, of: id).signal
    let received = Recorder<String>()
    let token = name.combineLatest(color).subscribe { received.record("\($0 ?? "-") \($1.map { "\($0)" } ?? "-")") }
    try store.write {
      try $0.rename(id, to: "Zoë")
      try $0.set(.hairColor, of: id, to: Color("white"))
    }
    try store.write { try $0.rename(id, to: "Zoe") }
    try store.write { try $0.set(.hairColor, of: id, to: nil) }
    #expect(received.all == ["NIX #000000", "Zoë #ffffff", "Zoe #ffffff", "Zoe -"])
    withExtendedLifetime(token) {}
  }

  @Test func `a value that arrives by several paths is combined once, at any depth`() {
    let (source, signal) = Signal<Int>.make()
    let tens = signal.map { $0 * 10 }
    let sum = signal.combineLatest(tens) { $0 + $1 }
    let deep = signal.combineLatest(sum) { $0 + $1 }
    let deeper = sum.combineLatest(deep.combineLatest(tens) { $0 + $1 }) { "\($0) \($1)" }
    let received = Recorder<String>()
    let token = deeper.subscribe { received.record($0) }
    source.send(1)
    source.send(2)
    #expect(received.all == ["11 22", "22 44"])
    withExtendedLifetime(token) {}
  }

  @Test func `a listener that writes in the round does not change that`() throws {
    let store = try UserStore.forTests()
    let id = try store.write { try $0.add(name: "a") }
    let received = Recorder<String>()
    let name = try store.listenable(.name, of: id)
    let copy = Attribute<String>("copy")
    name.bind("copier") { name in _ = try store.write { try $0.set(copy, of: id, to: name) } }
    let both = name.signal.combineLatest(try store.listenable(copy, of: id).signal)
    let token = both.subscribe { received.record("\($0 ?? "-") \($1 ?? "-")") }
    try store.write { try $0.rename(id, to: "b") }
    try store.write { try $0.rename(id, to: "c") }
    #expect(received.all == ["a -", "b -", "b b", "c b", "c c"])
    withExtendedLifetime(token) {}
  }

  @Test func `it ends when both signals have ended, or one that never had a value`() {
    let ended = Recorder<Int>()
    let (a, first) = Signal<Int>.make()
    let (b, second) = Signal<Int>.make()
    let token = first.combineLatest(second).subscribeToEvents({ if case .end = $0 { ended.record(1) } })
    a.send(1)
    a.end()
    #expect(ended.all.isEmpty)
    b.end()
    #expect(ended.all == [1])
    let (c, third) = Signal<Int>.make()
    let other = third.combineLatest(Signal<Int>.make().signal).subscribeToEvents({
      if case .end = $0 { ended.record(2) }
    })
    #expect(ended.all == [1, 2])
    withExtendedLifetime((token, other, c)) {}
  }

  @Test func `when two threads send at the same time, the last pair has both last values`() throws {
    for _ in 0..<50 {
      let (a, first) = Signal<Int>.make()
      let (b, second) = Signal<Int>.make()
      let received = Recorder<String>()
      let token = first.combineLatest(second).subscribe { received.record("\($0) \($1)") }
      try Threads.run(2) { thread in
        for value in 0...100 { (thread == 0 ? a : b).send(value) }
      }
      #expect(received.all.last == "100 100")
      withExtendedLifetime(token) {}
    }
  }
}
