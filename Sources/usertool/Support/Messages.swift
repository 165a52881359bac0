#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Standard error: what a person reads, and no script.
struct Messages {
  static let shared = Messages()

  /// An error, what belongs to it, and one line of help.
  func report(_ failure: Failure) {
    var lines = ["usertool: error: " + failure.message.shown]
    lines += failure.details.map { "  " + $0 }
    if let hint = failure.hint { lines.append("usertool: hint: " + hint.shown) }
    write(lines.joined(separator: "\n") + "\n")
  }

  /// A line that is no error.
  ///
  /// Its values were made safe to show by whoever made the line.
  func say(_ line: String) {
    write(line + "\n")
  }

  /// A question, without the end of a line.
  func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = System.write(rest, to: STDERR_FILENO)
      if count < 0, errno != EINTR, errno != EAGAIN { return }
      rest = rest.dropFirst(max(0, count))
    }
  }
}
