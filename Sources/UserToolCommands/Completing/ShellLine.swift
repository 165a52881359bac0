import ArgumentParser

/// A command line up to the cursor, as its shell reads it: its words, and the quotes that are open at the cursor.
struct ShellLine {
  struct Word {
    var text = ""
    var raw = ""
    /// Whether the shell expands the word to a text that only the shell can compute.
    var isExpanded = false
  }

  private enum Quote {
    case none, single, double
  }

  /// The words of the last command; the last one may be empty.
  private(set) var words = [Word()]
  private var quote = Quote.none
  private var isEscaped = false
  private let shell: CompletionShell

  var last: Word { words[words.count - 1] }

  init(_ line: String, of shell: CompletionShell) {
    self.shell = shell
    for scalar in line.unicodeScalars { add(scalar) }
  }

  // MARK: Reading

  private mutating func add(_ scalar: Unicode.Scalar) {
    if isEscaped {
      isEscaped = false
      addEscaped(scalar)
    } else if scalar == "\\", quote != .single || shell == .fish {
      isEscaped = true
    } else if !changeQuote(scalar) {
      addPlain(scalar)
      return
    }
    words[words.count - 1].raw.unicodeScalars.append(scalar)
  }

  private mutating func addEscaped(_ scalar: Unicode.Scalar) {
    let removesBackslash: Bool
    switch quote {
    // fish turns some escaped letters into control characters, which nobody types to find a user.
    case .none:
      removesBackslash = true
      if shell == .fish, scalar.properties.isAlphabetic || scalar.value < 0x3A && scalar.value > 0x2F { expand() }
    case .single: removesBackslash = "'\\".unicodeScalars.contains(scalar)
    case .double: removesBackslash = (shell == .fish ? "\"$\\" : "\"$`\\").unicodeScalars.contains(scalar)
    }
    if !removesBackslash { append("\\") }
    append(scalar)
  }

  private mutating func changeQuote(_ scalar: Unicode.Scalar) -> Bool {
    switch (quote, scalar) {
    case (.none, "'"): quote = .single
    case (.none, "\""): quote = .double
    case (.single, "'"), (.double, "\""): quote = .none
    default: return false
    }
    return true
  }

  private mutating func addPlain(_ scalar: Unicode.Scalar) {
    switch (quote, scalar) {
    case (.none, " "), (.none, "\t"), (.none, "<"), (.none, ">"):
      if !last.raw.isEmpty { words.append(Word()) }
      return
    case (.none, ";"), (.none, "|"), (.none, "&"), (.none, "("), (.none, ")"), (.none, "\n"):
      words = [Word()]
      return
    case (.none, "*"), (.none, "?"), (.none, "["), (.none, "{"), (.none, "!"), (.double, "!"): expand()
    case (.none, "$"), (.none, "`"), (.double, "$"), (.double, "`"): expand()
    case (.none, "~") where last.raw.isEmpty, (.none, "#") where last.raw.isEmpty: expand()
    default: break
    }
    append(scalar)
    words[words.count - 1].raw.unicodeScalars.append(scalar)
  }

  private mutating func expand() { words[words.count - 1].isExpanded = true }

  private mutating func append(_ scalar: Unicode.Scalar) { words[words.count - 1].text.unicodeScalars.append(scalar) }

  // MARK: Writing

  /// Quotes `text` as bash's continuation of the last word; `ends` says whether the word is complete.
  ///
  /// - Returns: The quoted text; nil if the open quotes cannot contain it. In double quotes that is `!`, which recalls old
  ///   commands there too; closing the quotes first would confuse readline.
  func bashQuoted(_ text: String, ends: Bool) -> String? {
    switch quote {
    case .single: return text.utf8.contains(UInt8(ascii: "'")) ? nil : text + (ends ? "'" : "")
    case .double:
      if text.utf8.contains(UInt8(ascii: "!")) { return nil }
      return Self.escaped(text) { "\"$`\\".unicodeScalars.contains($0) } + (ends ? "\"" : "")
    case .none:
      // The backslash before the cursor escapes the next character.
      if isEscaped, let first = text.unicodeScalars.first {
        return String(first) + Self.word(String(text.unicodeScalars.dropFirst()))
      }
      return Self.word(text)
    }
  }

  /// The text as a shell reads it back, outside quotes.
  static func word(_ text: String) -> String {
    escaped(text) { $0.isASCII && !$0.properties.isAlphabetic && !"0123456789_-./:=@+,%".unicodeScalars.contains($0) }
  }

  private static func escaped(_ text: String, _ isSpecial: (Unicode.Scalar) -> Bool) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if isSpecial(scalar) { escaped.append("\\") }
      escaped.append(scalar)
    }
    return String(escaped)
  }
}
