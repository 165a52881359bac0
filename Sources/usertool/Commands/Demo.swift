import ArgumentParser

/// `usertool demo`.
struct DemoCommand: ParsableCommand {
  /// The scenes, by the name of each.
  enum Scene: String, ExpressibleByArgument, CaseIterable {
    case screens
  }

  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Play a scene on a temporary store.",
    usage: "usertool demo [<scene>] [<options>]",
    discussion: """
      Examples:
        usertool demo screens      # three screens, one name, edited on the third

      Without a name the scenes are listed.
      """)

  @Argument(help: "The scene.")
  var scene: Scene?

  @OptionGroup var common: CommonOptions

  func run() throws {
    let output = Output()
    switch scene {
    case nil:
      output.writeLine("screens\tthree screens, one name, edited on the third")
      output.flush()
    case .screens:
      // The temporary folder is removed at the end, also at an early one.
      Signals.shared.takeOver {}
      try ScreensScene(Stage(output, common.style)).play()
    }
    if let status = Signals.shared.status { throw Exit(status: status) }
  }
}
