import ArgumentParser
import UserStore
import UserStoreText

/// A command line: the command, the plain words, and the options with their values.
struct CommandWords {
  let command: String
  private(set) var plain: [String] = []
  /// Includes the options that precede the command.
  private(set) var options: [String] = []
  let takesUser: Bool
  /// The place of the first plain word.
  private var firstPlain: Int?
  /// The places of the values of options that take users.
  private var usersOfOptions: [Int] = []

  /// Reads a command line without the tool's name; nil if it has no known command.
  init?(_ arguments: some Collection<String>, of root: any ParsableCommand.Type) {
    let (leading, rest) = Arguments.leadingOptions(Array(arguments)[...])
    let commands = root.configuration.subcommands
    guard let command = commands.first(where: { $0._commandName == rest.first }) else { return nil }
    self.command = command._commandName
    options = leading
    // So wide that no line of the help is wrapped.
    let terms = ManualPage.entries(root.helpMessage(for: command, columns: 10_000)).map(\.term)
    takesUser = ["<user>", "[<user>]"].contains(terms.first)
    read(rest.dropFirst(), taking: Self.optionsWithValues(terms))
  }

  private mutating func read(_ words: ArraySlice<String>, taking withValues: Set<String>) {
    var isValue = false
    for (index, word) in zip(words.indices, words) {
      if isValue {
        if Self.optionsWithUsers.contains(options[options.count - 1]) { usersOfOptions.append(index) }
        options.append(word)
        isValue = false
      } else if word == "--" {
        if index + 1 < words.endIndex { firstPlain = firstPlain ?? index + 1 }
        plain += words[(index + 1)...]
        return
      } else if word.hasPrefix("-"), word != "-", !Self.isNegative(word) {
        options.append(word)
        isValue = withValues.contains(word)
      } else {
        firstPlain = firstPlain ?? index
        plain.append(word)
      }
    }
  }

  /// The line with other plain words, none of which starts with a dash.
  func with(_ words: some Sequence<String>) -> [String] { [command] + words + options }

  /// The line with other plain words; those from the first that starts with a dash follow `--`.
  func with(plain: [String]) -> [String] {
    let first = plain.prefix { !$0.hasPrefix("-") || $0 == "-" }
    let rest = Array(plain.dropFirst(first.count))
    return [command] + first + options + (rest.isEmpty ? [] : ["--"] + rest)
  }

  static var current: CommandWords? { CommandWords(ProgramArguments.all.dropFirst(), of: UserTool.self) }

  /// The command line of this process with other plain words, quoted for the shell; `format` is added unless the line has a
  /// format.
  static func again(_ plain: [String], format: String? = nil) -> String {
    let line = current
    let words = line?.with(plain: plain) ?? plain
    let hasFormat = line?.options.contains { $0.hasPrefix("--format") } ?? false
    let option = hasFormat ? [] : format.map { ["--format", $0] } ?? []
    return (["usertool"] + words + option).map { $0.shellWord() }.joined(separator: " ")
  }

  private static let optionsWithUsers = ["--about", "--users"]

  /// A command line in which negative ids are written so that the parser does not read them as options: `id:-5`, and `--about=-5`.
  static func withReadableIDs(_ words: [String], of root: any ParsableCommand.Type) -> [String] {
    guard words.contains(where: { $0.starts(with: /-[0-9]/) }), let line = CommandWords(words, of: root) else {
      return words
    }
    var words = words
    if line.takesUser, let place = line.firstPlain, let id = Int64(words[place]), id < 0 {
      words[place] = UserReference.text(of: User.ID(id))
    }
    for place in line.usersOfOptions.reversed() where words[place].starts(with: /-[0-9]/) {
      words.replaceSubrange(place - 1...place, with: [words[place - 1] + "=" + words[place]])
    }
    return words
  }

  /// Whether a word is a negative number, which the parser would read as an option.
  static func isNegative(_ word: String) -> Bool { Int64(word).map { $0 < 0 } ?? false }

  private static func optionsWithValues(_ terms: [String]) -> Set<String> {
    Set(
      terms.filter { $0.contains("<") }.flatMap { term in
        term.split(whereSeparator: { ", ".contains($0) }).filter { $0.hasPrefix("-") }.map(String.init)
      })
  }
}
