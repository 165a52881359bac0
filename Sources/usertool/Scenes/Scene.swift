/// What `usertool demo` plays.
enum Scene: String, CaseIterable {
  case screens
  case login

  var summary: String {
    switch self {
    case .screens: "three screens, one name, edited on the third"
    case .login: "a manager that logs in and out, and a label that follows it while it is on the screen"
    }
  }

  /// Plays it on a stage, in less than ten seconds.
  func play(on stage: Stage) throws {
    switch self {
    case .screens: try ScreensScene(stage).play()
    case .login: LoginScene(stage).play()
    }
  }
}
