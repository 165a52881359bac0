import UserStoreText

/// Standard error, for messages to people.
struct Messages {
  static let shared = Messages()

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

  func write(_ text: String) {
    _ = System.writeAll(Array(text.utf8), to: System.standardError)
  }

  /// Replaces the progress line; an empty line removes it.
  ///
  /// The line is cut, because only the last row of a wrapped line can be removed.
  func showProgress(_ line: String) {
    write(Self.progress(line, columns: System.columns(of: System.standardError) ?? 80))
  }

  static func progress(_ line: String, columns: Int) -> String { "\r\u{1B}[K" + line.cut(to: columns - 1) }
}

/// The y/N question before a command destroys something, on standard error; `--yes` skips it.
enum Confirmation {
  /// Throws if nobody can answer; `effect` says what the command would do.
  ///
  /// Called before any lookup, so that a script without `--yes` always fails in the same way.
  static func requireTerminal(_ effect: String) throws(Failure) {
    if System.isTerminal(0), System.isTerminal(2) { return }
    throw Failure(.usage, "\(effect), and there is no terminal to ask on", hint: "confirm with --yes")
  }

  /// Asks, and throws a failure with the message `refusal` unless the answer is yes.
  static func ask(_ question: String, otherwise refusal: String) throws(Failure) {
    Signals.shared.setFarewell("")
    Messages.shared.write(question + " [y/N] ")
    let answer = answer()
    Signals.shared.setFarewell(nil)
    guard ["y", "yes"].contains(answer.lowercased()) else { throw Failure(.failure, refusal) }
  }

  /// A line, read byte by byte to leave the rest of the input to the next program.
  private static func answer() -> String {
    var line: [UInt8] = []
    while let byte = System.read(System.standardInput, atMost: 1)?.first, byte != 0x0A { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }
}
