import ArgumentParser

struct CompletionCommand: ParsableCommand {
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish
  }

  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Print a shell completion script.",
    usage: "usertool completion <shell> [<options>]",
    discussion: """
      Examples:
        usertool completion bash >> ~/.bash_completion
        usertool completion zsh > ~/.zfunc/_usertool
        usertool completion fish > ~/.config/fish/completions/usertool.fish

      The script completes commands, options, users and attributes. Print it again after an update of usertool: an \
      older script may be insecure, or complete nothing.
      """)

  @Argument(help: "The shell: bash, zsh or fish.")
  var shell: Shell

  @OptionGroup var common: CommonOptions

  func run() throws {
    if let shell = CompletionShell(rawValue: shell.rawValue) { Output.print([CompletionScript.text(for: shell)]) }
  }
}
