import UserStore

/// Getting at the store, which may take its time.
extension Follower {
  /// Only a consumer's position is written.
  private func open() throws -> UserStore {
    if case .consumer = order.start { return try order.common.open(.readWrite, isWatching: true) }
    return try order.common.open(.readOnly, isWatching: true)
  }

  /// Opens the store, and waits for what is not there yet: for who may not write, a writer, however long it takes; where
  /// another file took the place of the old one, the rest of it, for two seconds.
  ///
  /// - Returns: nil when it was told to end.
  func opened(isReplaced: Bool = false) async throws -> UserStore? {
    let arrival = try FileArrival(of: order.common.path)
    var patience = isReplaced ? 40 : 0
    var isTold = false
    while Signals.shared.status == nil {
      do { return try open() } catch let error as Failure where error.code == .needsWriter {
        if !isTold { order.common.note("waiting for a writer: " + error.message.shown) }
        isTold = true
        await withTaskCancellationHandler(operation: arrival.wait, onCancel: arrival.wake)
      } catch let error as Failure {
        patience -= 1
        guard patience > 0, [.noInput, .badData].contains(error.status) else { throw error }
        // A file that is just taking another one's place is missing, or half there, for a moment.
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
    return nil
  }
}
