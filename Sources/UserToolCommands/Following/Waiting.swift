import Dispatch
import UserStore
import UserStoreText

/// Ends a following command on a signal, on a timeout, or when its output has no reader.
enum Deadline {
  /// Runs `body`, which must return soon after its task is canceled, and return whether it is done.
  ///
  /// Throws `Exit` if a signal, the timeout, or a closed output ended it first.
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
    // If `body` is done, its whole output was read, even if the reader has gone away.
    if try await !task.value { try Signals.shared.check() }
  }

  /// Notices a closed pipe before the next line, which may never be written.
  private static func endWhenUnread() {
    DispatchQueue(label: "usertool.output").async {
      if System.waitUntilUnread(1) { Signals.shared.end(with: .brokenPipe) }
    }
  }
}

extension CommonOptions {
  /// Opens the store, or waits until it can be opened.
  ///
  /// A process without write permission waits for a writer, without a limit. After the file was replaced, an incomplete file is
  /// retried for two seconds.
  /// - Returns: The store; nil if a signal ended the command.
  func openWaiting(_ access: Configuration.Access, isReplaced: Bool = false) async throws -> UserStore? {
    let arrival = if case .file(let path) = try database { try FileArrival(of: path) } else { FileArrival?.none }
    var attempts = isReplaced ? 40 : 0
    var hasReported = false
    while Signals.shared.status == nil {
      do { return try open(access, isWatching: true) } catch let error as Failure where error.code == .needsWriter {
        guard let arrival else { throw error }
        if !hasReported { note("waiting for a writer: " + error.message.shown) }
        hasReported = true
        await withTaskCancellationHandler(operation: arrival.wait, onCancel: arrival.wake)
      } catch let error as Failure {
        attempts -= 1
        let isIncomplete = [.noInput, .badData].contains(error.status) || error.code == .moved
        guard attempts > 0, isIncomplete else { throw error }
        // While another file replaces the database, it is missing or incomplete for a moment.
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
    return nil
  }

  /// Reports that the store polls for changes by other processes, if it does.
  func noteMissingFileEvents(of store: UserStore) {
    if store.hasFileEvents { return }
    note("file events are not available (their limit may be reached): checking for changes four times a second")
  }
}
