import Testing

@testable import UserStore

/// Part D of the article “What it grew from”: members and blocks.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainTests {
  let faults = Faults()
  let a = Thing(number: 1)
  let b = Thing()
  let c = Thing()

  @Test func `D1, a member bound in only sends, one bound out only receives, and one bound inout does both`() {
    let chain = faults.chain()
      .bind(a, \.number, .in).bind(b, \.number, .out).bind(c, \.number)
    #expect([a, b, c].map(\.number) == [1, 1, 1])
    c.number = 2
    chain.update()
    #expect([a, b, c].map(\.number) == [1, 2, 2])
    b.number = 3
    chain.update()
    #expect([a, b, c].map(\.number) == [1, 3, 2])
    a.number = 4
    chain.update()
    #expect([a, b, c].map(\.number) == [4, 4, 4])
    #expect(faults.texts == [])
  }

  @Test func `D2, a member with its own events is read when they occur`() async {
    let (source, tapped) = Signal<Void>.make()
    let chain = faults.chain().bind(a, \.number).bind(b, \.number, events: tapped)
    b.number = 7
    await turns()
    #expect(a.number == 1)
    source.send(())
    await turns { a.number == 7 }
    chain.unbind(b)
    b.number = 8
    source.send(())
    await turns()
    #expect(a.number == 7)
  }

  @Test func `D3, a converter converts received values, and with both directions, such as negated, also sent values`() {
    let chain = faults.chain()
      .bind(a, \.number)
      .bind(b, \.text, .out, converting: .incoming { (number: Int) in "no. \(number)" })
      .bind(c, \.real, converting: .both(incoming: { (number: Int) in Double(number) / 2 }, outgoing: { Int($0 * 2) }))
    #expect(b.text == "no. 1" && c.real == 0.5)
    c.real = 4
    chain.update()
    #expect(a.number == 8 && b.text == "no. 8")

    let (on, off) = (Thing(), Thing())
    let flags = faults.chain().bind(on, \.flag).bind(off, \.flag, converting: .negated)
    #expect(off.flag)
    off.flag = false
    flags.update()
    #expect(on.flag)
  }

  @Test func `D3, a value is first converted automatically to the type of the converter's input`() {
    a.text = "12"
    faults.chain().bind(a, \.text).bind(b, \.number, .out, converting: .incoming { (number: Int) in number + 1 })
    #expect(b.number == 13)
  }

  @Test func `D5, blocks are called after the members, in order, and the same key replaces a block in its place`() {
    var received: [String] = []
    let chain = faults.chain().bind(a, \.number).bind(b, \.number)
      .on("first") { (value: Int) in received.append("old \(value)") }
      .on("second") { [b] (value: String) in received.append("second \(value) \(b.number)") }
      .on("first") { [b] (value: Int) in received.append("first \(value) \(b.number)") }
    #expect(received == [])
    a.number = 5
    chain.update()
    #expect(received == ["first 5 5", "second 5 5"])
    chain.unbind("first")
    #expect(!chain.isBound("first") && chain.isBound("second"))
    a.number = 6
    chain.update()
    #expect(received.last == "second 6 6" && received.count == 3)
  }

  @Test func `D5, when a block throws, the others are called, and it is reported by its key`() {
    var received: [Int] = []
    let chain = faults.chain("many").bind(a, \.number).bind(b, \.number)
    for key in 0..<10 {
      chain.on("\(key)") { (value: Int) in
        received.append(key)
        if key % 3 == 1 { throw Refusal(reason: "\(key)") }
      }
    }
    a.number = 2
    chain.update()
    #expect(received == Array(0..<10) && b.number == 2)
    #expect(faults.all.map(\.member) == ["block “1”", "block “4”", "block “7”"])
    #expect(faults.all.allSatisfy { $0.chain == "many" && $0.object == nil })
  }

  @Test func `D7, members and blocks can be added in any order, also later`() {
    var received: [Int] = []
    let chain = faults.chain().on("early") { received.append($0) }.bind(b, \.number, .out).bind(a, \.number)
    #expect(b.number == 0)
    a.number = 3
    chain.update()
    #expect(b.number == 3)
    chain.bind(c, \.number)
    #expect(c.number == 3)
    c.number = 4
    chain.update()
    #expect([a, b, c].map(\.number) == [4, 4, 4])
    #expect(received == [3, 4])
  }

  @Test func `D10, an element of an array is a member, which waits while the array is too short`() {
    a.list = [1, 2, 3]
    let chain = faults.chain().bind(a, \.list[2]).bind(b, \.number)
    #expect(b.number == 3)
    b.number = 9
    chain.update()
    #expect(a.list == [1, 2, 9])

    let late = faults.chain().bind(b, \.number).bind(c, \.list, at: 1)
    #expect(chain.members == late.members)
    b.number = 10
    late.update()
    #expect(c.list == [] && a.list == [1, 2, 10])
    c.list = [0, 0]
    b.number = 11
    late.update()
    #expect(a.list == [1, 2, 11] && c.list == [0, 11])
    c.list = []
    late.update()
    #expect(b.number == 11)
    #expect(faults.texts == [])
  }

  @Test func `D10, an element is the same member by its key path and by its index`() {
    a.list = [1, 2]
    let chain = faults.chain().bind(a, \.list[1]).bind(a, \.list, at: 1)
    #expect(chain.members.count == 1)
    #expect(chain.isBound(a, \.list[1]) && !chain.isBound(a, \.list[0]))
  }

  @Test func `D11, a round writes each member once, except the source and members that already have the value`() {
    let (source, first, second) = (Counted(1), Counted(0), Counted(2))
    let chain = faults.chain().bind(source, \.value).bind(first, \.value).bind(second, \.value, initial: .none)
    #expect((source.writes, first.writes, second.writes) == ([], [1], []))
    source.value = 2
    chain.update()
    #expect((source.writes, first.writes, second.writes) == ([2], [1, 2], []))
    chain.update()
    #expect(first.writes == [1, 2])
  }

  @Test func `D12, a new member receives the head's value, unless none or tail is chosen`() {
    var received: [Int] = []
    (b.number, c.number) = (2, 3)
    let chain = faults.chain().bind(a, \.number).on("all") { received.append($0) }
    chain.bind(b, \.number)
    #expect(b.number == 1)
    chain.bind(c, \.number, initial: .none)
    #expect(c.number == 3 && a.number == 1)
    let d = Thing(number: 4)
    chain.bind(d, \.number, initial: .tail)
    #expect([a, b, c, d].map(\.number) == [4, 4, 4, 4])
    #expect(received == [4])
  }

  @Test func `D12, a change of the head that was not noticed is propagated to all members`() {
    let chain = faults.chain().bind(a, \.number).bind(b, \.number)
    a.number = 8
    chain.bind(c, \.number)
    #expect([a, b, c].map(\.number) == [8, 8, 8])
  }

  @Test func `a member that is bound twice is one member, with both directions and all filters`() {
    let chain = faults.chain()
      .bind(a, \.text).bind(b, \.text, .out, filter: { $0.count <= 3 })
      .bind(b, \.text, .in, filter: { !$0.contains("x") })
    #expect(chain.members.count == 2)
    for (text, expected) in [("abc", "abc"), ("abcd", "abc"), ("x", "abc"), ("ab", "ab")] {
      b.text = text
      chain.update()
      #expect((a.text, b.text) == (expected, expected))
    }
    a.text = "x"
    chain.update()
    #expect(b.text == "ab" && a.text == "ab")
    #expect(faults.all.count == 3)
  }

  @Test func `nil is a value`() {
    (a.nickname, a.age) = ("Zoë", 3)
    let chain = faults.chain().bind(a, \.nickname).bind(b, \.nickname)
    a.nickname = nil
    chain.update()
    #expect(b.nickname == nil)
    b.nickname = "Z"
    chain.update()
    #expect(a.nickname == "Z")

    let ages = faults.chain().bind(a, \.age).bind(b, \.nickname).bind(c, \.number)
    #expect(b.nickname == "3" && c.number == 3)
    a.age = nil
    ages.update()
    #expect(a.age == 3 && c.number == 3)
    #expect(faults.texts == ["test: cannot convert “nil” to the Int of Thing.number"])
  }
}
