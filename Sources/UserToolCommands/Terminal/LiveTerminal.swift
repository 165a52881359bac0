import UserStore

/// The terminal while a frame on it is drawn again and again.
///
/// Meanwhile the cursor is hidden and nothing that is typed is shown. The cursor rests on the first line of the frame, so
/// that it stays there when the terminal gets another width and wraps the lines again.
final class LiveTerminal: Sendable {
  static let shared = LiveTerminal()

  private let state = Lock(State())

  private struct State {
    var isActive = false
    /// Whether the process is about to end, so that nothing more is drawn.
    var hasEnded = false
    var modes: System.TerminalModes?
    /// The number of lines of the last frame.
    var height = 0
  }

  private static let output = System.standardOutput

  /// The terminal's size, or that of the oldest terminals if it is unknown.
  var size: (columns: Int, rows: Int) {
    let size = System.size(ofTerminal: Self.output)
    return (size?.columns ?? 80, size.flatMap { $0.rows > 0 ? $0.rows : nil } ?? 24)
  }

  /// Replaces the last frame by these lines, in one write; does nothing while the process is in the background.
  func draw(_ lines: [String]) {
    guard System.isInForeground(of: Self.output) else { return }
    let prefix: String? = state.withLock { state in
      if state.hasEnded { return nil }
      defer { (state.isActive, state.height) = (true, lines.count) }
      if state.isActive { return "" }
      state.modes = System.hideTyping(on: System.standardInput)
      return "\u{1B}[?25l"
    }
    if let prefix { write(Array(prefix.utf8) + Self.bytes(of: lines)) }
  }

  /// Leaves the frame as it is, and shows the cursor below it; if this is not final, until the next frame is drawn.
  ///
  /// Called before the process ends, whatever the reason is. Does nothing if there is no frame.
  func end(isFinal: Bool = true) {
    let before = state.withLock { state in
      defer {
        state = State()
        state.hasEnded = isFinal
      }
      return state
    }
    guard before.isActive else { return }
    let down = before.height > 1 ? "\u{1B}[\(before.height - 1)B" : ""
    // A terminal that was stopped with Ctrl-S must not keep the process from ending.
    if System.wait(output: Self.output, milliseconds: 0) {
      write(Array((down + "\r\n\u{1B}[?25h").utf8))
    }
    if let modes = before.modes { System.restore(modes, on: System.standardInput) }
  }

  /// The bytes that draw a frame over the last one, from the first line of which the cursor starts.
  ///
  /// Lines are not wrapped: if the terminal gives a character another width, the lines below must not move.
  static func bytes(of lines: [String]) -> [UInt8] {
    let up = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    let text = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    return Array(("\r\u{1B}[?7l" + text + "\u{1B}[J\u{1B}[?7h" + up + "\r").utf8)
  }

  private func write(_ bytes: [UInt8]) {
    if !System.writeAll(bytes, to: Self.output) { Signals.shared.end(with: .hungUp) }
  }
}
