import Testing

@testable import UserStore

/// The observer bag of the article “What it grew from”, row by row.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ObserversTests {
  private let received = Recorder<String>()

  private func recording(_ name: String) -> LoginHandler {
    LoginHandler(all: { [received] notification in received.record("\(name) \(notification)") })
  }

  @Test func `B2, handlers receive notifications until they are removed, and removing nil has no effect`() {
    let (source, observers) = Observers<LoginHandler>.make()
    let first = observers.add(recording("first"))
    let second = observers.add(recording("second"))
    source.send(.loggedOut)
    observers.remove(first)
    observers.remove(first)
    observers.remove(nil)
    #expect(observers.count == 1)
    source.send(.loggedOut)
    #expect(received.all == ["first loggedOut", "second loggedOut", "second loggedOut"])
    withExtendedLifetime(second) {}
  }

  @Test func `B2, releasing a token removes its handler`() {
    let (source, observers) = Observers<LoginHandler>.make()
    do {
      let token = observers.add(recording("x"))
      #expect(observers.count == 1)
      withExtendedLifetime(token) {}
    }
    source.send(.loggedOut)
    #expect(received.all == [] && observers.count == 0)
  }

  @Test func `B3, a notification is passed to the parts of a handler, which can be made in several ways`() {
    let (source, observers) = Observers<LoginHandler>.make()
    let received = received
    let screen = LoginScreen(received)
    let tokens = [
      observers.add(LoginHandler(didLogIn: { received.record("in \($0)") }, didLogOut: { received.record("out") })),
      observers.add(LoginHandler(didLogIn: { received.record("only in \($0)") })),
      observers.add(LoginHandler(all: { received.record("all \($0)") })),
      observers.add(LoginHandler(delegate: screen)),
    ]
    source.send(.loggedIn("Zoë"))
    source.send(.loggedOut)
    #expect(
      received.all == [
        "in Zoë", "only in Zoë", "all loggedIn(\"Zoë\")", "screen in Zoë", "out", "all loggedOut", "screen out",
      ])
    withExtendedLifetime(tokens) {}
  }

  @Test func `B3, a delegate is held weakly`() {
    let (source, observers) = Observers<LoginHandler>.make()
    var screen: LoginScreen? = LoginScreen(received)
    weak let weakScreen = screen
    let token = observers.add(LoginHandler(delegate: screen!))
    screen = nil
    #expect(weakScreen == nil)
    source.send(.loggedOut)
    #expect(received.all == [])
    withExtendedLifetime(token) {}
  }

  @Test func `B4, several lists on one object are independent`() {
    let manager = Manager()
    let tokens = [
      manager.logins.add(recording("login")), manager.failures.add(Failures { [received] in received.record($0) }),
    ]
    manager.logIn("Zoë")
    manager.failure("no")
    #expect(received.all == ["login loggedIn(\"Zoë\")", "no"])
    #expect(manager.logins.count == 1 && manager.failures.count == 1)
    withExtendedLifetime(tokens) {}
  }

  @Test func `B5, with the observers you can register, but not notify`() {
    // Only the source can notify. Without it there are no more notifications, and all handlers are released.
    let token = Lock<Token?>(Token())
    weak let weakToken = token.withLock { $0 }
    let observers: Observers<LoginHandler>
    let held: SubscriptionToken
    do {
      let (source, made) = Observers<LoginHandler>.make()
      observers = made
      held = observers.add(
        LoginHandler(didLogOut: { [object = token.withLock { $0.take() }] in withExtendedLifetime(object) {} }))
      #expect(weakToken != nil)
      withExtendedLifetime(source) {}
    }
    #expect(observers.count == 0 && weakToken == nil)
    withExtendedLifetime(held) {}
  }

  @Test func `B6, a handler that is added or removed during a round is not called in it`() {
    let (source, observers) = Observers<LoginHandler>.make()
    let bag = TokenBag()
    let later = Lock<SubscriptionToken?>(nil)
    let first = observers.add(
      LoginHandler(didLogOut: { [received] in
        received.record("first")
        later.withLock { $0.take() }?.dispose()
        observers.add(LoginHandler(didLogOut: { received.record("added") })).disposed(by: bag)
      }))
    let removed = observers.add(recording("removed"))
    later.withLock { $0 = removed }
    source.send(.loggedOut)
    #expect(received.all == ["first"])
    source.send(.loggedOut)
    #expect(received.all == ["first", "first", "added"])
    withExtendedLifetime(first) {}
  }

  @Test func `when a handler throws, the others are called`() {
    let errors = Recorder<String>()
    let (source, observers) = Observers<LoginHandler>.make { errors.record("\($1)") }
    let tokens = [
      observers.add(LoginHandler(didLogOut: { throw Refusal(reason: "no") })), observers.add(recording("second")),
    ]
    source.send(.loggedOut)
    #expect(received.all == ["second loggedOut"] && errors.all.count == 1)
    withExtendedLifetime(tokens) {}
  }
}

enum LoginNotification: Sendable {
  case loggedIn(String)
  case loggedOut
}

/// A struct of closures, with several ways to make one.
struct LoginHandler: NotificationHandler {
  var didLogIn: @Sendable (String) throws -> Void = { _ in }
  var didLogOut: @Sendable () throws -> Void = {}

  func handle(_ notification: LoginNotification) throws {
    switch notification {
    case .loggedIn(let name): try didLogIn(name)
    case .loggedOut: try didLogOut()
    }
  }
}

extension LoginHandler {
  init(all: @escaping @Sendable (LoginNotification) throws -> Void) {
    self.init(didLogIn: { try all(.loggedIn($0)) }, didLogOut: { try all(.loggedOut) })
  }

  init(delegate: LoginScreen) {
    self.init(
      didLogIn: { [weak delegate] in delegate?.didLogIn($0) }, didLogOut: { [weak delegate] in delegate?.didLogOut() })
  }
}

final class LoginScreen: Sendable {
  private let received: Recorder<String>
  init(_ received: Recorder<String>) { self.received = received }
  func didLogIn(_ name: String) { received.record("screen in \(name)") }
  func didLogOut() { received.record("screen out") }
}

private struct Failures: NotificationHandler {
  let handler: @Sendable (String) -> Void
  init(_ handler: @escaping @Sendable (String) -> Void) { self.handler = handler }
  func handle(_ notification: String) { handler(notification) }
}

/// An object with public observers, which it alone can notify.
private final class Manager: Sendable {
  let logins: Observers<LoginHandler>
  let failures: Observers<Failures>
  private let loginSink: SignalSource<LoginNotification>
  private let failureSink: SignalSource<String>

  init() {
    (loginSink, logins) = Observers.make()
    (failureSink, failures) = Observers.make()
  }

  func logIn(_ name: String) { loginSink.send(.loggedIn(name)) }
  func failure(_ reason: String) { failureSink.send(reason) }
}
