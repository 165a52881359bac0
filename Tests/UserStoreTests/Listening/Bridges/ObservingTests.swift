import Observation
import Testing

@testable import UserStore

@MainActor @Observable private final class Field {
  var text = "a"
  var other = 0
  var child = Child()
  @ObservationIgnored var ignored = 1
  var length: Int { text.count }
}

@MainActor @Observable private final class Child {
  var age = 1
}

@MainActor @Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) struct ObservingTests {
  private let received = Recorder<String>()

  @Test func `C4, a property of an observable object is a signal of the present value, then of each change`() async {
    let field = Field()
    let token = Signal(observing: field, \.text).subscribe { [received] in received.record($0) }
    #expect(received.all == ["a"])
    for (count, text) in ["b", "c", "d"].enumerated() {
      field.text = text
      await received.reached(count + 2)
    }
    #expect(received.all == ["a", "b", "c", "d"])
    withExtendedLifetime(token) {}
  }

  @Test func `several changes in one turn are delivered as one value, the last`() async {
    let field = Field()
    let token = Signal(observing: field, \.text).subscribe { [received] in received.record($0) }
    for text in ["b", "c", "d"] { field.text = text }
    field.other = 1
    await received.reached(2)
    field.text = "e"
    await received.reached(3)
    #expect(received.all == ["a", "d", "e"])
    withExtendedLifetime(token) {}
  }

  @Test func `properties that change in one turn are delivered together, and give one pair when combined`() async {
    let (field, sibling) = (Field(), Child())
    let text = Signal(observing: field, \.text)
    let both = text.combineLatest(Signal(observing: field, \.other)) { "\($0) \($1)" }
    let all = both.combineLatest(Signal(observing: sibling, \.age)) { "\($0) \($1)" }
    let token = all.subscribe(on: .main) { [received] in received.record($0) }
    await received.reached(1)
    (field.text, field.other, sibling.age) = ("b", 1, 2)
    await received.reached { $0.last == "b 1 2" }
    (sibling.age, field.text) = (3, "c")
    await received.reached { $0.last == "c 1 3" }
    #expect(received.all == ["a 0 1", "b 1 2", "c 1 3"])
    withExtendedLifetime(token) {}
  }

  @Test func `a change that a listener makes is noticed too`() async {
    let field = Field()
    let token = Signal(observing: field, \.text).subscribe(on: .main) { [received] text in
      received.record(text)
      if text.count < 5 { field.text += "b" }
    }
    await received.reached { $0.last == "abbbb" }
    #expect(received.all == ["a", "ab", "abb", "abbb", "abbbb"])
    withExtendedLifetime(token) {}
  }

  @Test func `a key path may lead to a computed property and through other objects`() async {
    let field = Field()
    let length = Signal(observing: field, \.length).subscribe { [received] in received.record("length \($0)") }
    let age = Signal(observing: field, \.child.age).subscribe { [received] in received.record("age \($0)") }
    field.text = "long"
    await received.reached(3)
    field.child.age = 2
    await received.reached(4)
    field.child = Child()
    await received.reached(5)
    #expect(received.all == ["length 1", "age 1", "length 4", "age 2", "age 1"])
    withExtendedLifetime((length, age)) {}
  }

  @Test func `C4, the signal holds its object weakly, and ends when the object is released`() async {
    var field: Field? = Field()
    weak let kept = field
    let signal = Signal(observing: field!, \.text)
    let token = signal.subscribeToEvents(on: .main) { [received] in received.record("\($0)") }
    field?.text = "b"
    await received.reached(2)
    field = nil
    #expect(kept == nil)
    await received.reached(3)
    let late = signal.subscribeToEvents(on: .main) { [received] in received.record("late \($0)") }
    await received.reached { $0.last == "late end" }
    #expect(received.all == [#"value("a")"#, #"value("b")"#, "end", #"late value("b")"#, "late end"])
    withExtendedLifetime((token, late)) {}
  }

  @Test func `the object is released between a change and the next turn`() async {
    var field: Field? = Field()
    let token = Signal(observing: field!, \.text).subscribeToEvents(on: .main) { [received] in received.record("\($0)")
    }
    field?.text = "b"
    field = nil
    await received.reached(2)
    #expect(received.all == [#"value("a")"#, "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `C4, a subscription holds the observation, and its release ends it`() async {
    let field = Field()
    var held: Token? = Token()
    weak let weakHeld = held
    var token: SubscriptionToken? = Signal(observing: field, \.text).map { [held] text in
      withExtendedLifetime(held) { text }
    }.subscribe { [received] in received.record($0) }
    held = nil
    field.text = "b"
    await received.reached(2)
    #expect(weakHeld != nil)
    token = nil
    #expect(weakHeld == nil && token == nil)
    field.text = "c"
    let fence = Signal(observing: field, \.text).subscribe { [received] in received.record("fence \($0)") }
    field.text = "d"
    await received.reached { $0.last == "fence d" }
    #expect(received.all == ["a", "b", "fence c", "fence d"])
    withExtendedLifetime(fence) {}
  }

  @Test func `a property that Observation does not track has only its first value, and costs no time`() async {
    let field = Field()
    let token = Signal(observing: field, \.ignored).subscribe { [received] in received.record("\($0)") }
    field.ignored = 2
    for _ in 0..<100 { await Task.yield() }
    #expect(received.all == ["1"])
    withExtendedLifetime(token) {}
  }

  @Test func `two subscriptions share one observation and receive the same values`() async {
    let field = Field()
    let signal = Signal(observing: field, \.text)
    let tokens = ["x", "y"].map { name in signal.subscribe { [received] in received.record(name + $0) } }
    field.text = "b"
    await received.reached(4)
    #expect(received.all == ["xa", "ya", "xb", "yb"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `its values are an async sequence`() async {
    let field = Field()
    var iterator = Signal(observing: field, \.text).values.makeAsyncIterator()
    #expect(await iterator.next() == "a")
    field.text = "b"
    #expect(await iterator.next() == "b")
  }
}
