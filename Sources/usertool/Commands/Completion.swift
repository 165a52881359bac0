import ArgumentParser

/// `usertool completion`.
struct CompletionCommand: ParsableCommand {
  /// The shells that the parser can write a script for.
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
      """)

  @Argument(help: "bash, zsh or fish.")
  var shell: Shell

  @OptionGroup var common: CommonOptions

  func run() throws {
    guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
    let output = Output()
    output.writeLine(UserTool.completionScript(for: shell))
    if shell == .bash { output.writeLine(Self.bashAddition) }
    output.flush()
  }

  /// No space after the name of an attribute: its value follows.
  private static let bashAddition = """

    _usertool_values() {
        _usertool "${@}"
        if [[ "${COMPREPLY[0]}" = *= ]]; then compopt -o nospace +o filenames 2>/dev/null; fi
    }
    complete -o filenames -F _usertool_values usertool
    """
}
