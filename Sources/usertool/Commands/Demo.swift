import ArgumentParser

/// `usertool demo`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Play a scene on a temporary store.",
    usage: "usertool demo [<scene>] [<options>]",
    discussion: """
      Examples:
        usertool demo screens
        usertool demo login
        usertool demo signals
        usertool demo lottery

      Without a name the scenes are listed.
      """)

  @Argument(help: "The scene.")
  var scene: Scene?

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let output = Output()
    guard let scene else {
      for scene in Scene.allCases { output.writeLine("\(scene.rawValue)\t\(scene.summary)") }
      output.flush()
      return
    }
    // Temporary folders are removed at the end, also at an early one.
    Signals.shared.takeOver {}
    try await scene.perform(on: Stage(output, common.style))
    if let status = Signals.shared.status { throw Exit(status: status) }
  }
}

extension Scene: ExpressibleByArgument {}
