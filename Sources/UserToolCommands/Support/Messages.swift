import UserStoreText

/// Standard error, for messages to people.
struct Messages {
  static let shared = Messages()

  /// Writes an error message, its details, and its hint.
  func report(_ failure: Failure) {
    var lines = ["usertool: error: " + failure.message.shown]
    lines += failure.details.map { "  " + $0 }
    if let hint = failure.hint { lines.append("usertool: hint: " + Arguments.withDatabase(hint).shown) }
    write(lines.joined(separator: "\n") + "\n")
  }

  /// Writes a line; the caller escapes the values in it.
  func writeLine(_ line: String) {
    write(line + "\n")
  }

  /// Writes text without a line end, such as a question.
  func write(_ text: String) {
    _ = System.writeAll(Array(text.utf8), to: System.standardError)
  }

  /// Puts a line about the progress in place of the one before; an empty line removes it.
  ///
  /// The line is cut, because only the last row of a line that the terminal wraps can be removed.
  func showProgress(_ line: String) {
    write(Self.progress(line, columns: System.columns(of: System.standardError) ?? 80))
  }

  static func progress(_ line: String, columns: Int) -> String { "\r\u{1B}[K" + line.cut(to: columns - 1) }
}
