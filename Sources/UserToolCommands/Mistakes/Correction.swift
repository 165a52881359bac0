import ArgumentParser
import UserStore
import UserStoreText

/// A likely correction of a rejected command line.
///
/// A correction becomes a hint only if the parser accepts it.
struct Correction {
  /// The words without the tool's name.
  let words: [String]
  /// The hint; nil for the whole command line.
  private(set) var hint: String?
  /// Whether the words mean the same as the rejected ones; then a mistake in them is reported instead.
  private(set) var isSame = false

  var text: String { hint ?? "did you mean: " + (["usertool"] + words.map { $0.shellWord() }).joined(separator: " ") }

  // MARK: Whole command lines

  /// The number of names of each command that takes nothing else.
  private static let nameCounts = ["add": 1, "get": 1, "rename": 2, "remove": 1, "watch": 1, "log": 1, "purge": 1]

  /// A correction of the plain words; the options stay.
  static func ofLine(_ line: CommandWords) -> Correction? {
    let words = line.plain
    switch line.command {
    case "list": return list(line)
    case "index", "unique": return action(line, of: IndexCommand.Action.allCases.map(\.rawValue))
    case "sync": return action(line, of: SyncCommand.Action.allCases.map(\.rawValue))
    case "set":
      guard words.count > 1 else { return nil }
      return Correction(words: line.with([words[0]] + assignments(in: words.dropFirst())))
    case "add":
      let values = words.drop { !has($0, "=") }
      guard values.count > 0, values.count < words.count else { return joinedName(line) }
      let name = words.dropLast(values.count).joined(separator: " ")
      return Correction(words: line.with([name] + assignments(in: values).flatMap { ["--set", $0] }))
    default: return joinedName(line)
    }
  }

  /// The line with a negative number written as an id where a user is expected, else after `--`; nil without one.
  static func ofNegative(_ line: CommandWords) -> Correction? {
    var words = line.plain
    guard words.contains(where: CommandWords.isNegative) else { return nil }
    if line.takesUser, let id = Int64(words[0]), id < 0 { words[0] = UserReference.text(of: User.ID(id)) }
    return Correction(words: line.with(plain: words), isSame: true)
  }

  /// The line with a name that the shell has split at its spaces.
  static func joinedName(_ line: CommandWords) -> Correction? {
    let words = line.plain
    guard let count = nameCounts[line.command], words.count > count else { return nil }
    // Several ids are not one name.
    if words.dropFirst(count - 1).allSatisfy({ Int64($0) != nil }) { return nil }
    return Correction(
      words: line.with(words.prefix(count - 1) + [words.dropFirst(count - 1).joined(separator: " ")]))
  }

  /// The list with the words as conditions, each alone or all joined; nil if they are none.
  private static func list(_ line: CommandWords) -> Correction? {
    let words = line.plain
    guard let conditions = [words, [words.joined()]].first(where: areConditions), !words.isEmpty else { return nil }
    let hint =
      (["usertool list"] + conditions.map { "--where " + $0.shellWord(alwaysQuoted: true) }
      + line.options.map { $0.shellWord() }).joined(separator: " ")
    return Correction(
      words: line.with(conditions.flatMap { ["--where", $0] }), hint: "did you mean: " + hint)
  }

  private static func areConditions(_ texts: [String]) -> Bool {
    var query = QueryText()
    query.conditions = texts
    return texts.allSatisfy { ConditionText($0, .options).isClear } && (try? ListRequest(query, .options)) != nil
  }

  /// The command with its own name for the action; nil for an unknown action.
  private static func action(_ line: CommandWords, of actions: [String]) -> Correction? {
    guard let word = line.plain.first, !actions.contains(word) else { return nil }
    let synonyms = Arguments.synonyms.merging(["create": "add", "drop": "remove"]) { $1 }
    let meant =
      synonyms[word].flatMap { actions.contains($0) ? $0 : nil } ?? Suggestion.nearest(to: word, among: actions)
    return meant.map { Correction(words: line.with([$0] + line.plain.dropFirst())) }
  }

  /// Turns `age 41`, `age = 41`, `=41` and `name=Zoë Müller` into assignments.
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
    return assignments.map { $0.utf8.first == UInt8(ascii: "=") ? "ATTRIBUTE" + $0 : $0 }
  }

  private static func has(_ word: String, _ sign: Unicode.Scalar) -> Bool { word.unicodeScalars.contains(sign) }

  // MARK: Options

  /// A correction of an option that the tool writes differently; only the parser's message shows the mistake.
  static func ofOption(in words: [String], _ message: String) -> Correction? {
    for (index, word) in words.enumerated() {
      if message.contains("Unknown option '\(word)'"), let correction = format(word, at: index, of: words) {
        return correction
      }
      if message.contains("The value '\(word)' is invalid for '--set ") {
        return Correction(words: replacing(index...index, of: words, by: assignments(in: [word])))
      }
      if message.contains("Missing value for '\(word) "), index + 1 < words.count,
        let correction = hidden(words[index + 1], of: word, at: index, of: words)
      {
        return correction
      }
    }
    return nil
  }

  private static func format(_ word: String, at index: Int, of words: [String]) -> Correction? {
    guard let format = OutputFormat.allCases.map(\.rawValue).first(where: { word == "--" + $0 }) else { return nil }
    return Correction(
      words: replacing(index...index, of: words, by: ["--format", format]), hint: "did you mean --format \(format)?")
  }

  /// An option whose value starts with a dash, such as -1 and -age, which the parser reads as an option.
  private static func hidden(_ value: String, of option: String, at index: Int, of words: [String]) -> Correction? {
    guard option.hasPrefix("--"), value.hasPrefix("-"), value.dropFirst().first != "-", !value.dropFirst().isEmpty,
      CommonOptions.names[value] == nil
    else { return nil }
    if option == "--sort" {
      let keys = SortText(value, .options).corrections.flatMap { ["--sort", $0] }
      let hint = "did you mean \(keys.map { $0.shellWord() }.joined(separator: " "))?"
      return Correction(words: replacing(index...index + 1, of: words, by: keys), hint: hint)
    }
    let joined = option + "=" + value
    return Correction(
      words: replacing(index...index + 1, of: words, by: [joined]),
      hint: "a value that starts with - needs an equals sign: \(option)=\(value.shellWord())", isSame: true)
  }

  private static func replacing(_ range: ClosedRange<Int>, of words: [String], by new: [String]) -> [String] {
    words[..<range.lowerBound] + new + words[(range.upperBound + 1)...]
  }
}
