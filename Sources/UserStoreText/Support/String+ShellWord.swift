extension String {
  /// The text as one word of a shell, in quotes if necessary or always.
  package func shellWord(alwaysQuoted: Bool = false) -> String {
    let isPlain = unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || "0123456789_-+=.,:/@%".unicodeScalars.contains($0)
    }
    if isPlain, !isEmpty, !alwaysQuoted { return self }
    // By scalars: a quote with a combining accent is another character in Swift, but to a shell it is a quote.
    return "'" + unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
