import ArgumentParser

/// A command line: the command, the words that are no options, and the options with their values.
struct CommandWords {
  let command: String
  private(set) var plain: [String] = []
  /// Those that precede the command too.
  private(set) var options: [String] = []

  /// Reads a command line without the tool's name; nil if it has no known command.
  init?(_ arguments: some Collection<String>, of root: any ParsableCommand.Type) {
    let (leading, rest) = Arguments.leadingOptions(Array(arguments)[...])
    let commands = root.configuration.subcommands
    guard let command = commands.first(where: { $0._commandName == rest.first }) else { return nil }
    self.command = command._commandName
    options = leading
    read(rest.dropFirst(), taking: Self.optionsWithValues(of: command, in: root))
  }

  private mutating func read(_ words: ArraySlice<String>, taking withValues: Set<String>) {
    var isValue = false
    for (index, word) in zip(words.indices, words) {
      if isValue {
        options.append(word)
        isValue = false
      } else if word == "--" {
        plain += words[(index + 1)...]
        return
      } else if word.hasPrefix("-"), word != "-" {
        options.append(word)
        isValue = withValues.contains(word)
      } else {
        plain.append(word)
      }
    }
  }

  /// The line with other plain words, which precede the options.
  func with(_ plain: some Sequence<String>) -> [String] { [command] + plain + options }

  /// The names of the options that take a value, from the help text.
  private static func optionsWithValues(
    of command: any ParsableCommand.Type, in root: any ParsableCommand.Type
  ) -> Set<String> {
    let terms = ManualPage.entries(root.helpMessage(for: command, columns: 10_000)).map(\.term)
    return Set(
      terms.filter { $0.contains("<") }.flatMap { term in
        term.split(whereSeparator: { ", ".contains($0) }).filter { $0.hasPrefix("-") }.map(String.init)
      })
  }
}
