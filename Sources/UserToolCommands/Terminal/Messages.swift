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

/// The y/N question that a command asks before it destroys something; `--yes` skips it.
///
/// The question goes to standard error, and the answer comes from standard input.
enum Confirmation {
  /// Throws when no person can answer; `effect` says what the command would do.
  ///
  /// Called before anything is looked up, so that a script without `--yes` always fails in the same way.
  static func requireTerminal(_ effect: String) throws(Failure) {
    if System.isTerminal(0), System.isTerminal(2) { return }
    throw Failure(.usage, "\(effect), and there is no terminal to ask on", hint: "confirm with --yes")
  }

  /// Asks the question, and throws a failure with the message `refusal` unless the answer is yes.
  static func ask(_ question: String, otherwise refusal: String) throws(Failure) {
    Signals.shared.setFarewell("")
    Messages.shared.write(question + " [y/N] ")
    let answer = answer()
    Signals.shared.setFarewell(nil)
    guard ["y", "yes"].contains(answer.lowercased()) else { throw Failure(.failure, refusal) }
  }

  /// A line, read byte by byte, so that the rest of the input is left for the next program.
  private static func answer() -> String {
    var line: [UInt8] = []
    while let byte = System.read(System.standardInput, atMost: 1)?.first, byte != 0x0A { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }
}
