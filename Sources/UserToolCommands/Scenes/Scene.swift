enum Scene: String, CaseIterable {
  case screens
  case login
  case signals
  case lottery

  var summary: String {
    switch self {
    case .screens: "three screens that show one name, which is edited on the third"
    case .login: "a login manager, and a label that observes it while on the screen"
    case .signals: "a text field as a signal, and two chained requests"
    case .lottery: "five binding chains between numbers, labels and controls, one with a filter"
    }
  }

  /// Plays the scene in less than ten seconds, and shows the number of objects that it leaves behind.
  ///
  /// Throws `Exit` after a signal.
  func perform(on stage: Stage) async throws {
    try await play(on: stage)
    // Chains release dead members on the next turns of the main actor.
    for _ in 0..<1_000 where CountedObject.count > 0 { await Task.yield() }
    try stage.announce("The scene is over.")
    stage.show("objects alive: \(CountedObject.count)")
  }

  private func play(on stage: Stage) async throws {
    switch self {
    case .screens: try ScreensScene(stage).play()
    case .login: try LoginScene(stage: stage).play()
    case .signals: try await SignalsScene(stage: stage).play()
    case .lottery: try await LotteryScene(stage: stage).play()
    }
  }
}
