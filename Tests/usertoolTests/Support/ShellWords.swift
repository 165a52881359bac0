/// The words of a hint, as a shell reads them.
enum ShellWords {
  /// Splits a line that has only plain words and words in single quotes.
  static func split(_ line: some StringProtocol) -> [String] {
    var (words, isQuoted, isWord, isEscaped) = ([String](), false, false, false)
    for scalar in line.unicodeScalars {
      if isEscaped {
        isEscaped = false
      } else if scalar == "'" {
        (isQuoted, isWord) = (!isQuoted, append("", to: &words, isWord))
        continue
      } else if !isQuoted, scalar == "\\" {
        isEscaped = true
        continue
      } else if !isQuoted, scalar == " " {
        isWord = false
        continue
      }
      isWord = append(String(scalar), to: &words, isWord)
    }
    return words
  }

  private static func append(_ text: String, to words: inout [String], _ isWord: Bool) -> Bool {
    if isWord {
      words[words.count - 1].unicodeScalars.append(contentsOf: text.unicodeScalars)
    } else {
      words.append(text)
    }
    return true
  }

  /// The words in single quotes that follow `--where ` or `--where=` in a hint.
  static func conditions(in hint: String) -> [String] {
    hint.components(separatedBy: "--where").dropFirst().compactMap { rest in
      let rest = rest.dropFirst()
      guard rest.first == "'" else { return nil }
      return split(quoted(rest)).first
    }
  }

  /// The start of a text up to the end of a word in single quotes.
  private static func quoted(_ text: Substring) -> String {
    var (word, isQuoted) = ("", false)
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      if !isQuoted, scalar != "'", scalar != "\\" { break }
      word.unicodeScalars.append(scalar)
      if scalar == "\\", !isQuoted, let next = scalars.popFirst() { word.unicodeScalars.append(next) }
      if scalar == "'" { isQuoted.toggle() }
    }
    return word
  }
}

extension String {
  fileprivate func components(separatedBy separator: String) -> [Substring] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}
