import UserStore

/// Prints the steps and the results of a scene, on a terminal at a pace that a person can follow.
final class Stage: Sendable {
  private let output: Lock<Output>
  private let style: Style
  private let pause: Int32

  init(_ output: sending Output, _ style: Style) {
    self.output = Lock(output)
    self.style = style
    pause = System.isTerminal(1) ? 500 : 0
  }

  /// Starts a step, after a pause on a terminal; throws `Exit` after a signal, which also ends the pause.
  func announce(_ text: String) throws {
    Signals.shared.sleep(milliseconds: pause)
    if let status = Signals.shared.status { throw Exit(status: status) }
    write(style.bold(text))
  }

  /// Shows a result of the step.
  func show(_ text: String) {
    write("  " + text)
  }

  private func write(_ line: String) {
    output.withLock { output in
      output.writeLine(line)
      output.flush()
    }
  }
}
