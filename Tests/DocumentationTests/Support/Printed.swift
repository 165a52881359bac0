/// Records what an example prints.
final class Printed: Sendable {
  private let lines = Guarded<[String]>([])

  var print: @Sendable (Any...) -> Void { { parts in self.append(parts) } }

  func append(_ parts: [Any]) {
    let line = parts.map { "\($0)" }.joined(separator: " ")
    lines.withLock { $0.append(line) }
  }

  var isEmpty: Bool { lines.withLock { $0.isEmpty } }

  /// Returns what was printed since the last call.
  func taken() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
