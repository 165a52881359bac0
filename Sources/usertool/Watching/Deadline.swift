import Dispatch

/// What ends a command that would not end by itself: a signal, a time, a reader of its output who went away.
enum Deadline {
  /// Runs `body` until it returns, or is told to end by being cancelled.
  ///
  /// - Parameters:
  ///   - timeout: nil for no limit.
  ///   - body: Returns by itself soon after it is cancelled.
  /// - Returns: `success` when `body` says that it has come to its end; else why it was cancelled, if it was.
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
    // A reader who leaves with the last line has all of it.
    return try await task.value ? .success : Signals.shared.status ?? .success
  }

  /// Without waiting for a next line, which may never come.
  private static func endWhenUnread() {
    DispatchQueue(label: "usertool.output").async {
      if System.waitUntilUnread(1) { Signals.shared.end(with: .brokenPipe) }
    }
  }
}
