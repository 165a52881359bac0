import Testing

@testable import UserStore

/// Rows D4 and D6 of the article “What it grew from”: refused values.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainRefusalTests {
  let faults = Faults()
  let a = Thing(number: 1)
  let b = Thing()
  let c = Thing()

  @Test(arguments: [0, 1, 2]) func `D4, one refusal restores the source, and no other member changes`(_ place: Int) {
    let things = [a, b, c]
    var received: [Int] = []
    let chain = faults.chain("small").on("block") { received.append($0) }
    for (index, thing) in things.enumerated() {
      if index == place {
        chain.bind(thing, \.number, filter: { $0 != 13 }, { $0 < 10 })
      } else {
        chain.bind(thing, \.number)
      }
    }
    for source in things {
      for refused in [12, 13] {
        source.number = refused
        chain.update()
        #expect(things.map(\.number) == [1, 1, 1])
      }
    }
    #expect(received == [] && faults.all.count == 6)
    for fault in faults.all {
      guard case .filtered = fault.reason else { return #expect(Bool(false), "\(fault)") }
      #expect(fault.object == ObjectIdentifier(things[place]) && fault.chain == "small")
    }
    #expect(faults.texts[0] == "small: a filter of \(chain.members[place]) refused “12”")
    b.number = 5
    chain.update()
    #expect(things.map(\.number) == [5, 5, 5])
  }

  @Test func `D4, a converter that throws refuses too`() {
    let chain = faults.chain().bind(a, \.number).bind(b, \.number)
      .bind(
        c, \.text, .out,
        converting: .incoming { (number: Int) in
          if number > 5 { throw Refusal(reason: "big") }
          return "\(number)"
        })
    a.number = 6
    chain.update()
    #expect(a.number == 1 && b.number == 1 && c.text == "1")
    guard case .failed(let error) = faults.all.first?.reason else { return #expect(Bool(false)) }
    #expect(error as? Refusal == Refusal(reason: "big"))
  }

  @Test func `D4, a new member that refuses the head's value stays as it is, and so does the chain`() {
    faults.chain().bind(a, \.number).bind(b, \.number, filter: { $0 > 1 })
    #expect(a.number == 1 && b.number == 0)
    #expect(faults.all.count == 1)
  }

  @Test func `D6, a failing conversion is an error value, not 0`() {
    a.number = 7
    let chain = faults.chain("n").bind(a, \.number).bind(b, \.text).bind(c, \.real)
    #expect(b.text == "7" && c.real == 7)
    for text in ["", "seven", "7.5", " 8", "9999999999999999999999"] {
      b.text = text
      chain.update()
      #expect(a.number == 7 && b.text == "7" && c.real == 7)
    }
    #expect(faults.all.count == 5)
    guard case .unconvertible(to: "Int") = faults.all[0].reason else { return #expect(Bool(false)) }
    #expect(faults.all[0].value == "")
    #expect(faults.texts[1] == "n: cannot convert “seven” to the Int of \(chain.members[0])")
  }

  @Test func `the name of a member is its type and its property, or the property's type if its name is not known`() {
    let observed = ObservedThing()
    let chain = faults.chain().bind(a, \.number).bind(observed, \.number).bind(b, \.list, at: 3)
    #expect(
      chain.members == ["Thing.number", "ObservedThing.(Int) (bound at \(#fileID):\(#line - 1))", "Thing.list[3]"])
  }
}
