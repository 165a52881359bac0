import UserStore

/// A user edits their name on the third of three screens, and all three show it.
///
/// Entering a screen again adds no listeners because they have names; without names it would.
struct ScreensScene {
  private let stage: Stage
  private let store: UserStore
  private let user: User.ID

  init(_ stage: Stage) throws {
    self.stage = stage
    store = try Stage.makeStore()
    user = try store.write { try $0.add(name: "NIX", hairColor: Color("black")) }
  }

  func play() throws {
    try stage.announce("A store with one user, \"NIX\", hair #000000, and no listeners.")
    showCount()
    for screen in ["FirstScreen", "SecondScreen", "ThirdScreen"] { try enter(screen) }
    try stage.announce("Back to the first screen: the others are popped, without unbinding their listeners.")
    showCount()
    for screen in ["SecondScreen", "ThirdScreen"] { try enter(screen) }
    try edit()
    try playWithoutNames()
  }

  // MARK: With names

  /// Pushes a screen, which shows the current values and then each change.
  private func enter(_ screen: String) throws {
    let before = store.listeners.count
    try stage.announce("Push \(screen): bindAndFire \(screen).nameButton and \(screen).background")
    // The listeners retain the screen until they are replaced.
    let entered = StageLabel(screen, stage)
    try store.listenable(.name, of: user).bindAndFire(screen + ".nameButton") { name in
      entered.show(name ?? "(gone)", in: ".nameButton")
    }
    try store.listenable(.hairColor, of: user).bindAndFire(screen + ".background") { color in
      entered.show(color.map { "\($0)" } ?? "(none)", in: ".background")
    }
    let after = store.listeners.count
    stage.show(
      "listeners: \(before) before, \(after) after" + (before == after ? ": its names were already bound" : "")
        + ", screens alive: \(CountedObject.count)")
  }

  private func edit() throws {
    let current = try store.listenable(.name, of: user).value ?? ""
    try stage.announce("On the third screen the field shows \"\(current)\". The user types \"Zoë\":")
    try store.write { try $0.rename(user, to: "Zoë") }
    showCount()
    try stage.announce("A new name and a new color in one write are one round; each listener is called once:")
    try store.write { transaction in
      try transaction.rename(user, to: "Zoe")
      try transaction.set(.hairColor, of: user, to: Color("auburn"))
    }
    showCount()
  }

  private func showCount() {
    stage.show("listeners: \(store.listeners.count)")
  }

  // MARK: Without names

  /// Plays the same with a list of closures, which cannot tell that two of them belong to one screen.
  private func playWithoutNames() throws {
    store.listeners.unbindAll()
    try stage.announce("The same with unnamed closures: first, second, third screen, pop, second and third again")
    var tokens: [SubscriptionToken] = []
    for screen in ["FirstScreen", "SecondScreen", "ThirdScreen", "SecondScreen", "ThirdScreen"] {
      tokens.append(
        store.listeners.bind(to: .attribute(.name, of: user)) { [stage] set in
          for change in try set.changes { stage.show("\(screen)  \(try change.new(.name) ?? "(gone)")") }
        })
    }
    stage.show("listeners: \(store.listeners.count), for three screens")
    try stage.announce("Rename to \"NIX\": screens that were entered twice are called twice.")
    try store.write { try $0.rename(user, to: "NIX") }
    for token in tokens { token.dispose() }
    try stage.announce("Removing them requires every token. With names there is no token to keep.")
    showCount()
  }
}
