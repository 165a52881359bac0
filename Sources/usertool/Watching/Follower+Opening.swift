import UserStore

/// Opening the store, which may have to wait.
extension Follower {
  /// Opens the store for reading, unless a consumer's position must be written.
  private func open() throws -> UserStore {
    if case .consumer = request.start { return try request.common.open(.readWrite, isWatching: true) }
    return try request.common.open(.readOnly, isWatching: true)
  }

  /// Opens the store, and waits if it cannot be opened yet.
  ///
  /// A process without write permission waits for a writer, without a limit. After the file was replaced, an incomplete file
  /// is retried for two seconds.
  ///
  /// - Returns: nil if the command was told to end.
  func opened(isReplaced: Bool = false) async throws -> UserStore? {
    let arrival = try FileArrival(of: request.common.path)
    var attempts = isReplaced ? 40 : 0
    var hasReported = false
    while Signals.shared.status == nil {
      do { return try open() } catch let error as Failure where error.code == .needsWriter {
        if !hasReported { request.common.note("waiting for a writer: " + error.message.shown) }
        hasReported = true
        await withTaskCancellationHandler(operation: arrival.wait, onCancel: arrival.wake)
      } catch let error as Failure {
        attempts -= 1
        guard attempts > 0, [.noInput, .badData].contains(error.status) else { throw error }
        // While another file takes the place of the database, it is missing or incomplete for a moment.
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
    return nil
  }
}
