import ArgumentParser
import UserStore
import UserStoreText

/// Prepares the command line for the parser.
enum Arguments {
  /// Names that other tools use for the commands.
  static let synonyms = [
    "create": "init", "new": "add", "insert": "add", "show": "get", "ls": "list", "mv": "rename", "update": "set",
    "unset": "set", "delete": "remove", "rm": "remove", "del": "remove", "tail": "watch", "follow": "watch",
    "history": "log", "changes": "log", "revert": "undo", "save": "backup", "copy": "backup", "load": "restore",
    "verify": "check", "fsck": "check", "repair": "check", "forget": "compact", "vacuum": "compact", "erase": "purge",
    "dump": "export", "manual": "man",
  ]

  /// Moves the common options that precede the command behind it, and throws for an unknown command.
  static func prepared(_ arguments: ArraySlice<String>, for root: any ParsableCommand.Type) throws(Failure) -> [String]
  {
    if let index = ProgramArguments.firstInvalid {
      throw Failure(.badData, "argument \(index) is not valid UTF-8: \"\(ProgramArguments.all[index])\"")
    }
    let (options, rest) = leadingOptions(arguments)
    guard let command = rest.first else {
      if options.isEmpty { return [] }
      throw Failure(.usage, "a command must follow \(options[0])", hint: "usertool --help lists all commands")
    }
    if command.hasPrefix("-") { return Array(arguments) }
    let names = names(of: root)
    // For `help lst` the parser would print the help of the whole tool.
    for word in command == "help" ? rest.prefix(2) : [command] where !names.contains(word) && !word.hasPrefix("-") {
      let question = synonyms[word].map { " (did you mean \"\($0)\"?)" }
      throw Failure(
        .usage, "unknown command \"\(word)\"" + (question ?? Suggestion.question(for: word, among: names)),
        hint: "usertool --help lists all commands")
    }
    return [command] + options + rest.dropFirst()
  }

  /// The corrected command line, or the command that prints help.
  ///
  /// - Parameters:
  ///   - arguments: The command line, without the tool's name.
  ///   - message: The message of the parser, which does not tell its mistakes apart in any other way.
  ///   - root: The tool.
  /// - Returns: the hint.
  static func helpHint(
    _ arguments: ArraySlice<String>, _ message: String, for root: any ParsableCommand.Type
  ) -> String {
    let rest = leadingOptions(arguments).rest
    let command = rest.first.flatMap { names(of: root).contains($0) ? $0 : nil }
    if let hint = Correction.option(in: arguments, message) { return hint }
    // The second argument of `get` is an error only if there is no such user; the command reports that itself.
    if let command, command != "get", let line = Correction.line(for: command, rest.dropFirst()) {
      return "did you mean: " + line
    }
    return "see " + (["usertool", command].compactMap { $0 } + ["--help"]).joined(separator: " ")
  }

  private static func names(of root: any ParsableCommand.Type) -> [String] {
    root.configuration.subcommands.map { $0._commandName } + ["help"]
  }

  private static func leadingOptions(_ arguments: ArraySlice<String>) -> (options: [String], rest: ArraySlice<String>) {
    var options: [String] = []
    var rest = arguments
    while let option = rest.first {
      let name = option.prefix { $0 != "=" }
      guard let takesValue = CommonOptions.names[String(name)] else { break }
      let count = takesValue && name.count == option.count ? 2 : 1
      options += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    return (options, rest)
  }
}
