import ArgumentParser
import UserStore
import UserStoreText

enum Arguments {
  /// Other tools' names for the commands.
  static let synonyms = [
    "create": "init", "new": "add", "insert": "add", "show": "get", "ls": "list", "mv": "rename", "update": "set",
    "unset": "set", "delete": "remove", "rm": "remove", "del": "remove", "tail": "watch",
    "replicate": "follow", "history": "log", "changes": "log", "revert": "undo", "save": "backup",
    "copy": "backup", "load": "restore",
    "verify": "check", "fsck": "check", "repair": "check", "forget": "compact", "vacuum": "compact", "erase": "purge",
    "dump": "export", "manual": "man",
  ]

  /// Moves common options from before the command to behind it, and marks negative ids; throws for an unknown command.
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
    return CommandWords.withReadableIDs([command] + options + rest.dropFirst(), of: root)
  }

  /// A failure for a command line that the parser rejects; its hint is the corrected command line, or the command that prints
  /// help.
  static func failure(
    _ message: String, _ arguments: ArraySlice<String>, for root: any ParsableCommand.Type
  ) -> Failure {
    let line = CommandWords(arguments, of: root)
    // A second argument of `get` may be an attribute; the command itself reports an error.
    let ofLine = line.flatMap { $0.command == "get" ? nil : Correction.ofLine($0) }
    let corrections = [Correction.ofOption(in: Array(arguments), message), line.flatMap(Correction.ofNegative), ofLine]
    var mistakeOfSame: Failure?
    for correction in corrections.compactMap(\.self) {
      guard let mistake = mistake(in: correction.words, for: root) else {
        return Failure(.usage, message, hint: correction.text)
      }
      if correction.isSame { mistakeOfSame = mistakeOfSame ?? mistake }
    }
    return mistakeOfSame ?? Failure(.usage, message, hint: help(for: line))
  }

  /// A mistake in a command line that can be found without the database; nil if there is none.
  static func mistake(in words: [String], for root: any ParsableCommand.Type) -> Failure? {
    do {
      let command = try root.parseAsRoot(try prepared(words[...], for: root))
      if let doubt = try (command as? any QueryCommand)?.doubts.first { return Failure(doubt) }
      return nil
    } catch let failure as Failure { return failure } catch let error as TextError { return Failure(error) } catch {
      return Failure(.usage, root.message(for: error), hint: help(for: CommandWords(words, of: root)))
    }
  }

  /// The value of `--db` in a command line; nil without the option.
  static func database(in arguments: ArraySlice<String>) -> String? {
    let words = arguments.prefix { $0 != "--" }
    guard let index = words.lastIndex(where: { $0 == "--db" || $0.hasPrefix("--db=") }) else { return nil }
    return words[index] == "--db" ? words[(index + 1)...].first : String(words[index].dropFirst("--db=".count))
  }

  /// Adds the database of this process's command line to the tool's command lines in a message.
  ///
  /// A message that contains `--db` or `--help` stays as it is.
  static func withDatabase(_ message: String) -> String {
    guard let database = database(in: ProgramArguments.all.dropFirst()), !message.contains(/--db|--help/) else {
      return message
    }
    let address = DatabaseAddress(database)
    // Not the address's description, which escapes a line break in the path.
    let word = if case .file(let path) = address { path.shellWord() } else { "\(address)".shellWord() }
    let option = (word.hasPrefix("-") ? " --db=" : " --db ") + word
    let commands = names(of: UserTool.self)
    return message.replacing(/usertool ([a-z-]+)/) { found in
      // Not after another word: “the version of usertool that …”.
      commands.contains(String(found.output.1)) ? found.output.0 + option : found.output.0
    }
  }

  private static func help(for line: CommandWords?) -> String {
    "see " + (["usertool", line?.command].compactMap { $0 } + ["--help"]).joined(separator: " ")
  }

  private static func names(of root: any ParsableCommand.Type) -> [String] {
    root.configuration.subcommands.map { $0._commandName } + ["help"]
  }

  static func leadingOptions(_ arguments: ArraySlice<String>) -> (options: [String], rest: ArraySlice<String>) {
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

/// A command whose options contain a query, which the parser does not read.
protocol QueryCommand {
  /// Reads the query and returns its doubtful parts: mistakes, unless some user has an attribute of that name.
  var doubts: [TextError] { get throws(TextError) }
}
