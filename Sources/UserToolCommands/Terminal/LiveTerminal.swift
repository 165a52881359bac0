import UserStore

/// The terminal while frames are drawn on it.
///
/// The cursor is hidden, and typed characters are not shown. The cursor stays on the frame's first line, which keeps its place
/// when the terminal's width changes and lines wrap differently.
final class LiveTerminal: Sendable {
  static let shared = LiveTerminal()

  private let state = Lock(State())

  private struct State {
    var isActive = false
    /// Whether the process is about to end, so that nothing more may be drawn.
    var hasEnded = false
    var modes: System.TerminalModes?
    /// The number of lines of the last frame.
    var height = 0
  }

  private static let output = System.standardOutput

  /// The terminal's size; 80 × 24, the oldest terminals' size, if it is unknown.
  var size: (columns: Int, rows: Int) {
    let size = System.size(ofTerminal: Self.output)
    return (size?.columns ?? 80, size.flatMap { $0.rows > 0 ? $0.rows : nil } ?? 24)
  }

  /// Replaces the last frame in one write; does nothing while the process is in the background.
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

  /// Leaves the frame as it is, and shows the cursor below it until the next frame; if this is final, there is no next frame.
  ///
  /// Called before the process ends for any reason. Does nothing if there is no frame.
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
    // A terminal stopped with Ctrl-S must not keep the process from ending.
    if System.wait(output: Self.output, milliseconds: 0) {
      write(Array((down + "\r\n\u{1B}[?25h").utf8))
    }
    if let modes = before.modes { System.restore(modes, on: System.standardInput) }
  }

  /// The bytes that draw a frame over the last one; the cursor starts on its first line.
  ///
  /// Wrapping is off: if the terminal gives a character another width, the lines below must not move.
  static func bytes(of lines: [String]) -> [UInt8] {
    let up = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    let text = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    return Array(("\r\u{1B}[?7l" + text + "\u{1B}[J\u{1B}[?7h" + up + "\r").utf8)
  }

  private func write(_ bytes: [UInt8]) {
    if !System.writeAll(bytes, to: Self.output) { Signals.shared.end(with: .hungUp) }
  }
}
