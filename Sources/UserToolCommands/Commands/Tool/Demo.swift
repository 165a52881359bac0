import ArgumentParser

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Play a demo scene on a temporary store.",
    usage: "usertool demo [<scene>] [<options>]",
    discussion: """
      Examples:
        usertool demo screens
        usertool demo login
        usertool demo signals
        usertool demo lottery

      Without a scene, demo lists the scenes.
      """)

  @Argument(help: "The scene to play.")
  var scene: Scene?

  @OptionGroup var common: CommonOptions

  func run() async throws {
    guard let scene else { return Output.print(Scene.allCases.map { "\($0.rawValue)\t\($0.summary)" }) }
    // A signal ends the scene early, so that its temporary folders are removed.
    Signals.shared.takeOver {}
    try await scene.perform(on: Stage(Output(), common.style))
  }
}

extension Scene: ExpressibleByArgument {}
