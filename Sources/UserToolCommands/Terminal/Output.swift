import UserStore

/// Standard output, which collects whole records and writes them when it is flushed.
///
/// A closed pipe ends the process silently with 141, even if the parent process ignores SIGPIPE; later output is dropped.
final class Output {
  private var pending: [UInt8] = []
  /// Whether output was dropped because it could not be written, or nobody read it before the command had to end.
  private(set) var hasGivenUp = false

  /// The number of bytes that a writable pipe accepts without blocking.
  private static let portion = 4_096
  private static let capacity = 1 << 16
  private let capacity: Int
  private let isAfterChange: Bool
  private var hasElements = false

  /// - Parameters:
  ///   - holdsAll: Whether nothing is written before `flush`.
  ///   - isAfterChange: Whether the output shows a change that was made, which an error must mention.
  init(holdsAll: Bool = false, isAfterChange: Bool = false) {
    capacity = holdsAll ? .max : Self.capacity
    self.isAfterChange = isAfterChange
  }

  /// Adds an element of a JSON array; `endArray` ends the array.
  func writeElement(_ json: JSON) {
    write(Array((hasElements ? ",\n" : "[\n").utf8) + json.bytes)
    hasElements = true
  }

  func endArray() { writeLine(hasElements ? "\n]" : "[]") }

  func write(_ record: [UInt8]) {
    pending += record
    if pending.count >= capacity { flush() }
  }

  func writeLine(_ line: String) {
    write(Array(line.utf8) + [0x0A])
  }

  static func print(_ lines: some Sequence<String>) {
    let output = Output()
    for line in lines { output.writeLine(line) }
    output.flush()
  }

  /// Writes the collected bytes, or gives up if the command must end while nobody reads them.
  func flush() {
    var rest = pending[...]
    while !rest.isEmpty, !hasGivenUp {
      let mayWrite = Signals.shared.wait(for: System.standardOutput)
      let count = mayWrite ? System.write(rest.prefix(Self.portion), to: System.standardOutput) : 0
      if count < 0 { reportError() }
      hasGivenUp = !mayWrite || count < 0
      rest = rest.dropFirst(max(0, count))
    }
    pending.removeAll(keepingCapacity: true)
  }

  private func reportError() {
    if System.isClosedPipe { return Signals.shared.end(with: .brokenPipe) }
    let hint = isAfterChange ? "the change was made" : nil
    Messages.shared.report(Failure(.failure, "cannot write the output: \(System.lastError)", hint: hint))
    Signals.shared.end(with: .failure)
  }
}
