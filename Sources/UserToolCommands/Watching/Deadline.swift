import Dispatch

/// Ends a command that follows changes: on a signal, on a timeout, or when the reader of its output has gone away.
enum Deadline {
  /// Runs `body`, which must return soon after its task is canceled.
  ///
  /// - Parameters:
  ///   - timeout: The longest time that it may take; nil for no limit.
  ///   - body: Returns whether it is done.
  /// - Returns: `success` if `body` is done; otherwise the reason for which it was canceled, if it was.
  /// - Throws: what `body` throws.
  static func run(timeout: Duration?, _ body: @escaping @Sendable () async throws -> Bool) async throws -> ExitStatus {
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
    return try await task.value ? .success : Signals.shared.status ?? .success
  }

  /// Notices a closed pipe at once, not only at the next line, which may never be written.
  private static func endWhenUnread() {
    DispatchQueue(label: "usertool.output").async {
      if System.waitUntilUnread(1) { Signals.shared.end(with: .brokenPipe) }
    }
  }
}
