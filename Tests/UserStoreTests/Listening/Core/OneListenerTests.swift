import Testing

@testable import UserStore

/// Values in memory, whose rounds are delivered without the queue: most have one listener.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct OneListenerTests {
  private let received = Recorder<String>()

  @Test func `the only listener is called, whichever listeners there were before`() {
    let received = received
    let (source, value) = Listenable.make(0)
    for name in ["a", "b"] { value.bind(name) { received.record("\(name)\($0)") } }
    source.send(1)
    value.unbind("a")
    source.send(2)
    value.unbind("b")
    source.send(3)
    value.bind("c") { received.record("c\($0)") }
    source.send(4)
    #expect(received.all == ["a1", "b1", "b2", "c4"])
  }

  @Test func `a listener that is replaced in its call is not called again in the round, and neither is the new one`() {
    let received = received
    let (source, value) = Listenable.make(0)
    value.bind("a") { [weak value] number in
      received.record("old\(number)")
      value?.bind("a") { received.record("new\($0)") }
    }
    source.send(1)
    source.send(2)
    #expect(received.all == ["old1", "new2"])
  }

  @Test func `the value of a round is stored, and the one before it released, when its listener is called`() {
    let (source, value) = Listenable<Token>.make(Token())
    weak let first = value.value
    let second = Token()
    let isCalled = Lock(false)
    value.bind("a") { [weak value] received in
      #expect(first == nil && received === second && value?.value === second)
      isCalled.withLock { $0 = true }
    }
    source.send(second)
    #expect(isCalled.withLock { $0 })
  }

  @Test func `the listeners of a value in memory are released with it, although its source lives`() {
    var held: Token? = Token()
    weak let weakHeld = held
    var (source, value): (SignalSource<Int>, Listenable<Int>?) = Listenable.make(0)
    value?.bind("a") { [held] _ in withExtendedLifetime(held) {} }
    held = nil
    source.send(1)
    #expect(weakHeld != nil)
    value = nil
    #expect(weakHeld == nil && source.hub.count == 0)
    source = Listenable.make(0).source
  }

  @Test func `a value that is sent before its listenable is released is delivered`() {
    let received = received
    let (other, signal) = Signal<Int>.make()
    let token = signal.subscribe { number in
      let (source, value) = Listenable.make(0)
      value.bind("a") { received.record("\($0)") }
      source.send(number)
    }
    other.send(1)
    #expect(received.all == ["1"])
    withExtendedLifetime(token) {}
  }

  @Test func `after the end, a value in memory stays, and failures are not reported`() {
    let received = received
    let (source, value) = Listenable.make(0) { _, error in received.record("\(error)") }
    source.send(1)
    source.end()
    source.send(2)
    source.fail(StoreError(.closed, "no"))
    #expect(value.value == 1 && received.all == [])
  }

  private final class Sender: Sendable {
    let atEnd: @Sendable () -> Void

    init(atEnd: @escaping @Sendable () -> Void = {}) { self.atEnd = atEnd }

    deinit { atEnd() }
  }

  @Test func `a value that sends when it is released causes no deadlock, and its value is delivered afterwards`() {
    let received = received
    let (source, number) = Listenable.make(0)
    let (replacing, value) = Listenable.make(Sender())
    number.bind("a") { received.record("number \($0)") }
    value.bind("a") { _ in received.record("value") }
    let weakReplacing = Weak(replacing)
    let isSent = Recorder<Void>()
    replacing.send(
      Sender {
        source.send(1)
        weakReplacing.object?.send(Sender())
        isSent.record(())
      })
    replacing.send(Sender())
    // The round that releases it comes first.
    #expect(isSent.count == 1 && received.all == ["value", "value", "number 1", "value"])
  }

  private struct Weak: Sendable {
    weak let object: SignalSource<Sender>?

    init(_ object: SignalSource<Sender>) { self.object = object }
  }

  @Test func `a listener that the release of the last value removes is not called`() {
    let received = received
    let (source, value) = Listenable.make(Sender())
    let token = Lock<ListenerToken?>(nil)
    source.send(Sender { token.withLock { $0.take() }?.dispose() })
    token.withLock { $0 = value.bind("a") { _ in received.record("called") } }
    source.send(Sender())
    #expect(received.all == [] && value.names == [])
  }

  @Test func `a subscriber that the error handler removes does not receive the failure`() {
    let received = received
    let token = Lock<SubscriptionToken?>(nil)
    let (source, value) = Listenable.make(0) { _, _ in token.withLock { $0.take() }?.dispose() }
    token.withLock { $0 = value.signal.subscribeToEvents { received.record("\($0)") } }
    #expect(received.count == 1)
    source.fail(StoreError(.closed, "no"))
    #expect(received.count == 1)
  }

  @Test func `a listener that is removed while the queue is emptied is not held any longer`() {
    var held: Token? = Token()
    weak let weakHeld = held
    let isReleased = Lock(false)
    let (other, signal) = Signal<Int>.make()
    let (source, value) = Listenable.make(0)
    value.bind("a") { [held] in
      withExtendedLifetime(held) {}
      other.send($0)
    }
    held = nil
    let token = signal.subscribe { _ in
      value.unbind("a")
      isReleased.withLock { $0 = weakHeld == nil }
    }
    source.send(1)
    #expect(isReleased.withLock { $0 })
    withExtendedLifetime(token) {}
  }

  @Test func `the end releases a listener whose actor is gone, although the source lives`() async {
    var held: Token? = Token()
    weak let weakHeld = held
    var (source, value): (SignalSource<Int>?, Listenable<Int>?) = Listenable.make(0)
    do {
      let place = Place()
      value?.bind("a", on: .actor(place), owner: place) { [held] _, _ in withExtendedLifetime(held) {} }
    }
    held = nil
    #expect(weakHeld != nil)
    value = nil
    #expect(weakHeld == nil && source != nil)
    source = nil
  }

  @Test func `failures are not reported after the listenable was released`() {
    let received = received
    var (source, value): (SignalSource<Int>?, Listenable<Int>?) = Listenable.make(0) { _, error in
      received.record("\(error)")
    }
    source?.fail(StoreError(.closed, "no"))
    #expect(received.all == ["no"])
    withExtendedLifetime(value) {}
    value = nil
    source?.fail(StoreError(.closed, "no"))
    #expect(received.all == ["no"])
    source = nil
  }
}
