import UserStoreText

/// The command line that was probably meant by one that was rejected.
enum Correction {
  /// The number of names that a command takes, for commands that take nothing else.
  private static let nameCounts = ["add": 1, "get": 1, "rename": 2, "remove": 1, "watch": 1, "log": 1, "purge": 1]

  /// The corrected command line, from the command's name and the words after it; nil if there is no known correction.
  static func line(for command: String, _ words: some Sequence<String>) -> String? {
    if command == "list" { return list(plainWords(words, further: ["--count", "--follow"])) }
    let words = plainWords(words)
    if command == "index" { return index(words) }
    if command == "set" { return words.count > 1 ? line("set", [words[0]] + assignments(in: words.dropFirst())) : nil }
    guard let count = nameCounts[command], words.count > count else { return nil }
    // Several ids are not one name.
    if words.dropFirst(count - 1).allSatisfy({ Int64($0) != nil }) { return nil }
    // The shell split the last name at its spaces.
    return line(command, words.prefix(count - 1) + [words.dropFirst(count - 1).joined(separator: " ")])
  }

  private static func line(_ command: String, _ words: some Sequence<String>) -> String {
    (["usertool", command] + words.map { $0.shellWord() }).joined(separator: " ")
  }

  /// The list with the words as conditions, each or all together; nil if they are none.
  private static func list(_ words: [String]) -> String? {
    let choices = [words, [words.joined()]]
    let conditions = choices.first { $0.allSatisfy { (try? ConditionText($0, .options).parsed()) != nil } }
    guard let conditions, !words.isEmpty else { return nil }
    return (["usertool list"] + conditions.map { "--where " + $0.shellWord(alwaysQuoted: true) }).joined(separator: " ")
  }

  /// The command with the name that the tool has for the action; nil if the action is not known at all.
  private static func index(_ words: [String]) -> String? {
    let actions = IndexCommand.Action.allCases.map(\.rawValue)
    guard let word = words.first, !actions.contains(word) else { return nil }
    let synonyms = Arguments.synonyms.merging(["create": "add", "drop": "remove"]) { $1 }
    let meant =
      synonyms[word].flatMap { actions.contains($0) ? $0 : nil } ?? Suggestion.nearest(to: word, among: actions)
    return meant.map { line("index", [$0] + words.dropFirst()) }
  }

  /// A hint for an option that the tool has in another form; nil if there is none.
  ///
  /// - Parameters:
  ///   - arguments: The command line, without the tool's name.
  ///   - message: The message of the parser.
  /// - Returns: the hint.
  static func option(in arguments: some Collection<String>, _ message: String) -> String? {
    let formats = OutputFormat.allCases.map(\.rawValue)
    if let format = formats.first(where: { message.contains("Unknown option '--\($0)'") }) {
      return "did you mean --format \(format)?"
    }
    for (option, value) in zip(arguments, arguments.dropFirst()) where message.contains("Missing value for '\(option) ")
    {
      // The parser takes -1 and -age for options.
      guard option.hasPrefix("--"), value.hasPrefix("-"), value.dropFirst().first != "-", !value.dropFirst().isEmpty,
        CommonOptions.names[value] == nil
      else { continue }
      if option == "--sort" { return "did you mean --sort \((value.dropFirst() + ":desc").shellWord())?" }
      return "a value that starts with - needs an equals sign: \(option)=\(value.shellWord())"
    }
    return nil
  }

  /// The words without options and their values.
  private static func plainWords(_ words: some Sequence<String>, further: [String] = []) -> [String] {
    let flags = flags + further
    var plain: [String] = []
    var isValue = false
    for word in words {
      if word.hasPrefix("-") {
        isValue = word.hasPrefix("--") && !word.utf8.contains(UInt8(ascii: "=")) && !flags.contains(word)
      } else {
        if !isValue { plain.append(word) }
        isValue = false
      }
    }
    return plain
  }

  private static let flags = ["--quiet", "--dry-run", "--yes", "--once", "--no-initial", "--no-resync", "--per-change"]

  /// Turns `age 41`, `age = 41` and `name=Zoë Müller` into assignments.
  private static func assignments(in words: some Sequence<String>) -> [String] {
    var assignments: [String] = []
    // If no word is a complete assignment, every second word is a value.
    let haveComplete = words.contains { $0.utf8.dropFirst().dropLast().contains(UInt8(ascii: "=")) }
    for word in words {
      let isOpen = assignments.last.map { !has($0, "=") || $0.utf8.last == UInt8(ascii: "=") } ?? false
      if let last = assignments.last, isOpen {
        assignments[assignments.count - 1] = has(last, "=") || has(word, "=") ? last + word : last + "=" + word
      } else if let last = assignments.last, haveComplete, !has(word, "=") {
        assignments[assignments.count - 1] = last + " " + word
      } else {
        assignments.append(word)
      }
    }
    if let last = assignments.last, !has(last, "=") { assignments[assignments.count - 1] = last + "=VALUE" }
    return assignments
  }

  private static func has(_ word: String, _ sign: Unicode.Scalar) -> Bool { word.unicodeScalars.contains(sign) }
}
