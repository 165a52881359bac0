import ArgumentParser

/// `usertool completion`.
struct CompletionCommand: ParsableCommand {
  /// The shells that there is a script for.
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish
  }

  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Print the script that lets a shell complete commands and users.",
    usage: "usertool completion <shell> [<options>]",
    discussion: """
      Examples:
        usertool completion bash >> ~/.bash_completion
        usertool completion zsh > ~/.zfunc/_usertool
        usertool completion fish > ~/.config/fish/completions/usertool.fish

      Print the script again after an update: older scripts are not safe, or complete nothing.
      """)

  @Argument(help: "bash, zsh or fish.")
  var shell: Shell

  @OptionGroup var common: CommonOptions

  func run() throws {
    guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
    let output = Output()
    output.writeLine(CompletionScript.text(for: shell))
    output.flush()
  }
}
