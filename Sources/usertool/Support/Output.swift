#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Standard output: whole records, on their way as soon as they are flushed.
///
/// A pipe that nobody reads any more ends the process with 141, silently, also when whoever started it ignores SIGPIPE.
/// What is written from then on is dropped.
final class Output {
  private var pending: [UInt8] = []
  /// Whether something was not written because nobody read, and the command was to end.
  private(set) var hasGivenUp = false

  /// A pipe takes this many bytes at once without blocking when it says that it takes any.
  private static let portion = 4_096
  private static let capacity = 1 << 16

  /// Adds bytes that end a record.
  func write(_ record: [UInt8]) {
    pending += record
    if pending.count >= Self.capacity { flush() }
  }

  /// Adds a line.
  func writeLine(_ line: String) {
    write(Array(line.utf8) + [0x0A])
  }

  /// Writes what was added.
  ///
  /// When the command is to end and nobody reads, it gives up.
  func flush() {
    var rest = pending[...]
    while !rest.isEmpty, !hasGivenUp {
      guard Signals.shared.wait(for: STDOUT_FILENO) else {
        hasGivenUp = true
        break
      }
      let count = System.write(rest.prefix(Self.portion), to: STDOUT_FILENO)
      if count >= 0 { rest = rest.dropFirst(count) } else { handleError() }
    }
    pending.removeAll(keepingCapacity: true)
  }

  private func handleError() {
    switch errno {
    case EINTR, EAGAIN: return
    case EPIPE: Signals.shared.end(with: .brokenPipe)
    default:
      Messages.shared.report(Failure(.failure, "cannot write the output: \(System.lastError)"))
      Signals.shared.end(with: .failure)
    }
    hasGivenUp = true
  }
}
