import Testing

@testable import UserStore

/// Row D9 of the article “What it grew from”: members that leave.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainLifetimeTests {
  let faults = Faults()

  @Test func `D9, a released member leaves the chain, which does not hold it`() {
    let (a, b) = (Thing(number: 1), Thing())
    var middle: Thing? = Thing()
    weak let kept = middle
    let chain = faults.chain().bind(a, \.number).bind(middle!, \.number).bind(b, \.number)
    #expect(chain.members.count == 3)
    middle = nil
    #expect(kept == nil && chain.members.count == 2)
    a.number = 2
    chain.update()
    #expect(b.number == 2)
  }

  @Test func `D9, a member that is released or unbound in the middle of a round takes no part in the rest`() {
    let (a, c) = (Thing(number: 1), Thing())
    var released: Thing? = Thing()
    let unbound = Thing()
    let chain = faults.chain().bind(a, \.number)
    let trigger = Thing()
    chain.bind(
      trigger, \.number, .out,
      converting: .incoming { [weak chain] (number: Int) in
        if number == 5 {
          released = nil
          chain?.unbind(unbound)
        }
        return number
      })
    chain.bind(released!, \.number).bind(unbound, \.number).bind(c, \.number)
    a.number = 5
    chain.update()
    #expect(c.number == 5 && unbound.number == 1 && released == nil)
    #expect(!chain.isBound(unbound) && chain.members.count == 3)
  }

  @Test func `D9, a block and a member that a block unbinds take no part in the rest of the round`() {
    let (a, b) = (Thing(number: 1), Thing())
    var received: [String] = []
    let chain = faults.chain().bind(a, \.number).bind(b, \.number)
    chain.on("unbinds") { [weak chain] (_: Int) in
      received.append("unbinds")
      chain?.unbind("later")
      chain?.unbind(b)
    }
    .on("later") { (_: Int) in received.append("later") }.on("last") { (_: Int) in received.append("last") }
    a.number = 2
    chain.update()
    a.number = 3
    chain.update()
    #expect(received == ["unbinds", "last", "unbinds", "last"] && b.number == 2)
  }

  @Test func `D9, the chain ends with its last member that sends, and releases its blocks`() {
    var a: Thing? = Thing(number: 1)
    let b = Thing()
    var held: Token? = Token()
    weak let weakHeld = held
    let chain = faults.chain().bind(a!, \.number).bind(b, \.number, .out).on("block") { [held] (_: Int) in
      withExtendedLifetime(held) {}
    }
    held = nil
    #expect(weakHeld != nil)
    a = nil
    #expect(chain.members == [] && !chain.isBound("block"))
    #expect(weakHeld == nil)
    chain.bind(b, \.number)
    #expect(chain.members.count == 1)
  }

  @Test func `D9, members and blocks are found and unbound by object, by key path and by key`() {
    let (a, b) = (Thing(number: 1), Thing())
    let chain = faults.chain().bind(a, \.number).bind(b, \.number).bind(b, \.text).on("key") { (_: Int) in }
    #expect(chain.isBound(b) && chain.isBound(b, \.text) && !chain.isBound(b, \.real) && chain.isBound("key"))
    chain.unbind(b, \.text)
    #expect(chain.isBound(b) && !chain.isBound(b, \.text))
    chain.unbind(b)
    chain.unbind(b)
    #expect(!chain.isBound(b) && chain.isBound(a))
    chain.unbind("key")
    #expect(!chain.isBound("key"))
    a.number = 5
    chain.update()
    #expect(b.number == 1)
    let other = faults.chain().bind(b, \.number)
    #expect(other.members.count == 1)
  }

  @Test func `D9, chains that were joined by a member stay joined when it leaves`() {
    let (a, c) = (Thing(number: 1), Thing())
    var b: Thing? = Thing()
    let chain = faults.chain().bind(a, \.number).bind(b!, \.number)
    faults.chain().bind(b!, \.number).bind(c, \.number)
    b = nil
    c.number = 7
    chain.update()
    #expect(a.number == 7)
  }

  @Test func `a chain without a handle lives as long as a member that sends`() async {
    let (a, b) = (ObservedThing(), Thing())
    do { faults.chain().bind(a, \.number).bind(b, \.number, .out) }
    await turns()
    a.number = 3
    await turns { b.number == 3 }
  }

  @Test func `chain, closures and members are released with their screen`() async {
    @MainActor final class Screen {
      let (model, label) = (ObservedThing(), ObservedThing())
      let chain = BindingChain("screen")
      let token = Token()
      init() {
        chain.bind(model, \.number).bind(label, \.text, filter: { [token] _ in withExtendedLifetime(token) { true } })
          .on("block") { [unowned self] (number: Int) in label.age = number }
      }
    }
    var screen: Screen? = Screen()
    weak let core = screen?.chain.core
    weak let token = screen?.token
    weak let model = screen?.model
    screen?.model.number = 4
    await turns { screen?.label.text == "4" }
    #expect(screen?.label.age == 4 && core != nil)
    screen = nil
    #expect(model == nil)
    await turns { core == nil }
    #expect(core == nil && token == nil)
  }

  @Test func `two thousand chains without handles leave nothing behind`() async {
    weak var last: ChainCore?
    var living = 0
    for index in 0..<2_000 {
      let (a, b) = (Thing(number: index), Thing())
      let chain = BindingChain().bind(a, \.number).bind(b, \.number)
      last = chain.core
      if b.number != index { living += 1 }
    }
    #expect(living == 0)
    await turns { last == nil }
    #expect(last == nil)
  }
}
