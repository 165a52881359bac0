import UserStoreText

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Standard error, for messages to people.
struct Messages {
  static let shared = Messages()

  /// Writes an error message, its details, and its hint.
  func report(_ failure: Failure) {
    var lines = ["usertool: error: " + failure.message.shown]
    lines += failure.details.map { "  " + $0 }
    if let hint = failure.hint { lines.append("usertool: hint: " + hint.shown) }
    write(lines.joined(separator: "\n") + "\n")
  }

  /// Writes a line; the caller escapes the values in it.
  func writeLine(_ line: String) {
    write(line + "\n")
  }

  /// Writes text without a line end, such as a question.
  func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = System.write(rest, to: STDERR_FILENO)
      if count < 0, errno != EINTR, errno != EAGAIN { return }
      rest = rest.dropFirst(max(0, count))
    }
  }
}
