/// The command line that was probably meant by one that was rejected.
enum Correction {
  /// The number of names that a command takes, for commands that take nothing else.
  private static let nameCounts = ["add": 1, "get": 1, "rename": 2, "remove": 1, "watch": 1, "log": 1, "purge": 1]

  /// The corrected command line, from the command's name and the words after it; nil if there is no known correction.
  static func line(for command: String, _ words: some Sequence<String>) -> String? {
    let words = plainWords(words)
    if command == "set" { return words.count > 1 ? line("set", [words[0]] + assignments(in: words.dropFirst())) : nil }
    guard let count = nameCounts[command], words.count > count else { return nil }
    // Several ids are not one name.
    if words.dropFirst(count - 1).allSatisfy({ Int64($0) != nil }) { return nil }
    // The shell split the last name at its spaces.
    return line(command, words.prefix(count - 1) + [words.dropFirst(count - 1).joined(separator: " ")])
  }

  private static func line(_ command: String, _ words: some Sequence<String>) -> String {
    (["usertool", command] + words.map { quoted($0) }).joined(separator: " ")
  }

  /// The words without options and their values.
  private static func plainWords(_ words: some Sequence<String>) -> [String] {
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

  /// Quotes the text as one word of a shell, if necessary or always.
  static func quoted(_ word: String, always: Bool = false) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || "0123456789_-+=.,:/@%".unicodeScalars.contains($0)
    }
    if isPlain, !word.isEmpty, !always { return word }
    return "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
