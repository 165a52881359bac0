import ArgumentParser

/// `usertool man`.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "man",
    abstract: "Print the manual page.",
    usage: "usertool man [<options>]",
    discussion: """
      Examples:
        usertool man | man -l -
        usertool man > /usr/local/share/man/man1/usertool.1
      """)

  @OptionGroup var common: CommonOptions

  func run() throws {
    Output.print(ManualPage(UserTool.self).lines)
  }
}
