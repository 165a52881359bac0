import UserStore

/// A manager notifies observers of logins and logouts; a label observes while it is on the screen.
///
/// Observers have no names: each lives as long as its token. Code that has the manager can observe, but cannot notify.
struct LoginScene {
  let stage: Stage
  private let manager = LoginManager()

  func play() throws {
    let label = LoginLabel(manager, stage)
    let steps: [() throws -> Void] = [
      { try label.appear() },
      { try self.logIn("Zoë") },
      { try self.logOut() },
      { try label.disappear() },
      { try self.logIn("NIX") },
      { try label.appear() },
      { try self.countLogins() },
    ]
    try stage.announce("A manager without a user and without observers.")
    showCount()
    for step in steps {
      try step()
      showCount()
    }
  }

  private func logIn(_ name: String) throws {
    try stage.announce("\(name) logs in:")
    manager.logIn(name)
  }

  private func logOut() throws {
    try stage.announce("The user logs out:")
    manager.logOut()
  }

  /// Adds a handler of one notification, and disposes its token.
  private func countLogins() throws {
    try stage.announce("A second observer counts only logins; then Ada logs in:")
    let count = Lock(0)
    let token = manager.observers.add(
      LoginHandler(didLogIn: { [stage] _ in stage.show("counter  \(count.withLock { $0 += 1; return $0 })") }))
    manager.logIn("Ada")
    showCount()
    try stage.announce("Its token is disposed, which removes the observer.")
    token.dispose()
  }

  private func showCount() {
    stage.show("observers: \(manager.observers.count)")
  }
}

/// The owner of the current user: any code can observe the user, and only the manager can change it.
private final class LoginManager: Sendable {
  let user: Listenable<String?>
  let observers: Observers<LoginHandler>
  private let userSource: SignalSource<String?>
  private let source: SignalSource<LoginNotification>
  private let counted = CountedObject()

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

/// A struct of closures, each of which may be omitted.
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

private final class LoginLabel {
  private let manager: LoginManager
  let stage: Stage
  private let counted = CountedObject()
  private var token: SubscriptionToken?

  init(_ manager: LoginManager, _ stage: Stage) {
    self.manager = manager
    self.stage = stage
  }

  func appear() throws {
    try stage.announce("The label appears: it shows the current user and starts to observe.")
    stage.show("label  \(manager.user.value ?? "(nobody)")")
    token = manager.observers.add(
      LoginHandler(
        didLogIn: { [stage] name in stage.show("label  \(name)") },
        didLogOut: { [stage] in stage.show("label  (nobody)") }))
  }

  func disappear() throws {
    try stage.announce("The label disappears and releases its token.")
    token = nil
  }
}
