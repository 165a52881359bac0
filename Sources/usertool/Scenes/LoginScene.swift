import UserStore

/// A manager tells its observers who logs in and out; a label hears of it between its appearance and its disappearance.
///
/// Observers have no name: each is held by its token, and whoever has the manager may observe, but not notify.
struct LoginScene {
  private let stage: Stage
  private let manager = LoginManager()

  init(_ stage: Stage) {
    self.stage = stage
  }

  func play() {
    let label = LoginLabel(manager, stage)
    let steps: [() -> Void] = [
      { label.appear() },
      { self.logIn("Zoë") },
      { self.logOut() },
      { label.disappear() },
      { self.logIn("NIX") },
      { label.appear() },
      { self.countLogins() },
    ]
    stage.announce("A manager, nobody logged in, nobody observes.")
    showCount()
    for step in steps {
      if Signals.shared.status != nil { return }
      step()
      showCount()
    }
  }

  private func logIn(_ name: String) {
    stage.announce("\(name) logs in:")
    manager.logIn(name)
  }

  private func logOut() {
    stage.announce("And out:")
    manager.logOut()
  }

  /// A handler of which only one part is given, which removes itself with its token.
  private func countLogins() {
    stage.announce("A second observer, which only counts logins; then somebody else logs in:")
    let count = Lock(0)
    let token = manager.observers.add(
      LoginHandler(didLogIn: { [stage] _ in stage.show("counter  \(count.withLock { $0 += 1; return $0 })") }))
    manager.logIn("Ada")
    showCount()
    stage.announce("Its token goes, and the observer with it.")
    token.dispose()
  }

  private func showCount() {
    stage.show("observers: \(manager.observers.count)")
  }
}

/// Knows who is logged in; everybody may observe that, only the manager can say it.
private final class LoginManager: Sendable {
  let user: Listenable<String?>
  let observers: Observers<LoginHandler>
  private let userSource: SignalSource<String?>
  private let source: SignalSource<LoginNotification>
  private let living = Living()

  init() {
    (userSource, user) = Listenable.make(nil)
    (source, observers) = Observers.make()
  }

  func logIn(_ name: String) {
    userSource.send(name)
    source.send(.didLogIn(name))
  }

  func logOut() {
    userSource.send(nil)
    source.send(.didLogOut)
  }
}

private enum LoginNotification: Sendable {
  case didLogIn(String)
  case didLogOut
}

/// A struct of closures: whoever wants to hear only a part gives only that.
private struct LoginHandler: NotificationHandler {
  var didLogIn: @Sendable (String) -> Void = { _ in }
  var didLogOut: @Sendable () -> Void = {}

  func handle(_ notification: LoginNotification) {
    switch notification {
    case .didLogIn(let name): didLogIn(name)
    case .didLogOut: didLogOut()
    }
  }
}

/// Shows who is logged in, while it is on the screen.
private final class LoginLabel {
  private let manager: LoginManager
  private let stage: Stage
  private let living = Living()
  private var token: SubscriptionToken?

  init(_ manager: LoginManager, _ stage: Stage) {
    self.manager = manager
    self.stage = stage
  }

  func appear() {
    stage.announce("The label appears: it shows what is, and observes from now on.")
    stage.show("label  \(manager.user.value ?? "(nobody)")")
    token = manager.observers.add(
      LoginHandler(
        didLogIn: { [stage] name in stage.show("label  \(name)") },
        didLogOut: { [stage] in stage.show("label  (nobody)") }))
  }

  func disappear() {
    stage.announce("The label disappears, and lets its token go.")
    token = nil
  }
}
