import ArgumentParser

/// `usertool demo`
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Play a scene: screens.", discussion: "Examples:\n  usertool demo screens")
  @OptionGroup var common: CommonOptions
  func run() throws {}
}
