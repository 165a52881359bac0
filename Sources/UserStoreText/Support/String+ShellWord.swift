extension String {
  /// The text as one word of a shell, quoted if necessary or `alwaysQuoted`; with control characters, a word of bash, zsh, or
  /// ksh.
  package func shellWord(alwaysQuoted: Bool = false) -> String {
    let isPlain = unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || "0123456789_-+=.,:/@%".unicodeScalars.contains($0)
    }
    if isPlain, !isEmpty, !alwaysQuoted { return self }
    if unicodeScalars.contains(where: { $0.properties.generalCategory == .control && $0.value < 0x80 }) {
      return "$'" + unicodeScalars.map(Self.escaped).joined() + "'"
    }
    // By scalars: to Swift, a quote with a combining accent is another character; to a shell, it is a quote.
    return "'" + unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "'", "\\": "\\\(scalar)"
    case "\n": "\\n"
    case "\t": "\\t"
    case _ where scalar.value < 0x20 || scalar.value == 0x7F: "\\" + String(scalar.value + 0o1000, radix: 8).dropFirst()
    default: String(scalar)
    }
  }
}
