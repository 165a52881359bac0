import Dispatch

/// Ends a command that follows changes: on a signal, on a timeout, or when the reader of its output has gone away.
enum Deadline {
  /// Runs `body`, which must return soon after its task is canceled, and returns whether it is done.
  ///
  /// Throws `Exit` if it is not done, because it was canceled or took longer than `timeout`.
  static func run(timeout: Duration?, _ body: @escaping @Sendable () async throws -> Bool) async throws {
    let task = Task { try await body() }
    Signals.shared.takeOver { task.cancel() }
    if let timeout {
      Task {
        try await Task.sleep(for: timeout)
        Signals.shared.end(with: .timeout)
      }
    }
    endWhenUnread()
    // If `body` is done, the reader has everything, even if it has gone away.
    if try await !task.value { try Signals.shared.check() }
  }

  /// Notices a closed pipe at once, not only at the next line, which may never be written.
  private static func endWhenUnread() {
    DispatchQueue(label: "usertool.output").async {
      if System.waitUntilUnread(1) { Signals.shared.end(with: .brokenPipe) }
    }
  }
}
