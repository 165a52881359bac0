/// What `usertool demo` plays.
enum Scene: String, CaseIterable {
  case screens
  case login
  case signals
  case lottery

  var summary: String {
    switch self {
    case .screens: "three screens, one name, edited on the third"
    case .login: "a manager that logs in and out, and a label that follows it while it is on the screen"
    case .signals: "a field's text as a signal, a chained request, nothing left at the end"
    case .lottery: "five chains: numbers that follow their labels and controls, and one that refuses"
    }
  }

  /// Plays it on a stage, in less than ten seconds, and shows what is left of it.
  func perform(on stage: Stage) async throws {
    try await play(on: stage)
    if Signals.shared.status != nil { return }
    // Chains let go of what died on the next turns of the main actor.
    for _ in 0..<1_000 where Living.count > 0 { await Task.yield() }
    stage.announce("The scene is over.")
    stage.show("objects alive: \(Living.count)")
  }

  private func play(on stage: Stage) async throws {
    switch self {
    case .screens: try ScreensScene(stage).play()
    case .login: LoginScene(stage).play()
    case .signals: try await SignalsScene(stage).play()
    case .lottery: await LotteryScene(stage).play()
    }
  }
}
