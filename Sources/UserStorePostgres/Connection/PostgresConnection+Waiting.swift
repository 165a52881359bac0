import CUserStoreLibPQ

/// Why a wait for the socket ended; empty if there is no reason but a signal, or the end of one `poll`.
struct SocketEvents: OptionSet {
  let rawValue: Int32

  static let readable = SocketEvents(rawValue: 1)
  static let writable = SocketEvents(rawValue: 2)
  static let woken = SocketEvents(rawValue: 4)
}

extension PostgresConnection {
  /// Waits until the socket can be read or written, or there is a wake-up.
  ///
  /// All waiting of a connection is here. With `endsAtDeadline`, it returns an empty set at the deadline, and does not throw.
  ///
  /// - Throws: `.timeout`, `.interrupted`; the connection is closed then.
  func awaitSocket(
    reads: Bool = true, writes: Bool, _ deadline: ContinuousClock.Instant?, _ purpose: String,
    endsAtDeadline: Bool = false
  ) throws(PostgresError) -> SocketEvents {
    // Once also at the deadline: what has arrived meanwhile is not lost.
    var hasPolled = false
    while true {
      guard !interrupter.isInterrupted else {
        abandon()
        throw PostgresError(.interrupted, "the connection was interrupted", purpose: purpose)
      }
      var milliseconds: Int64 = -1
      if let deadline {
        milliseconds = max(0, (deadline - .now).wholeMilliseconds)
        if milliseconds == 0, !endsAtDeadline, hasPolled {
          // There is nothing to cancel: the server does not work on a reply, or cannot be reached.
          close()
          throw PostgresError(.timeout, "the server did not answer in time", purpose: purpose)
        }
      }
      let events = unsafe SocketEvents(
        rawValue: userstore_pq_wait(
          PQsocket(handle), reads ? 1 : 0, writes ? 1 : 0, interrupter.descriptor,
          Int32(clamping: milliseconds)))
      hasPolled = true
      // A wake-up can be an interrupt, which must remain visible: it is a state, not an event.
      if events.contains(.woken) {
        interrupter.drain()
        hasPendingWakeUp = true
      }
      if !events.isEmpty, !interrupter.isInterrupted { return events }
      if endsAtDeadline, milliseconds == 0 { return [] }
    }
  }

  /// Starts to wait for the reply to a batch.
  func beginReply() -> Silence {
    isUnreplicated = false
    blockers = nil
    // Before the server has named its process, it cannot be asked about it.
    guard process != nil else { return Silence(settings.connectTimeout, asks: false) }
    // Who holds a lock can only be asked while somebody waits for it.
    let lockWait = settings.lockTimeout.flatMap { $0 < .seconds(1) ? nil : $0 / 2 }
    return Silence(replyTimeout, asks: true, firstQuestion: lockWait)
  }

  /// Waits until the socket can be read or written, as long as the server may say nothing.
  private func awaitReply(
    writes: Bool, _ silence: inout Silence, _ purpose: String
  ) throws(PostgresError) -> SocketEvents {
    while true {
      let events = try awaitSocket(
        writes: writes, silence.next, purpose, endsAtDeadline: silence.isQuestionDue)
      if !events.isEmpty {
        if events != .woken { silence.restart() }
        return events
      }
      if askAboutReply() { silence.restart() } else { silence.isUnanswered() }
    }
  }

  /// Sends what is left to send, and returns the next result; nil at the end of a statement's results.
  ///
  /// The caller owns the result.
  ///
  /// - Throws: `.connectionLost`, `.timeout`, `.interrupted`; the connection is closed then.
  @unsafe func nextResult(
    _ silence: inout Silence, _ purpose: String
  ) throws(PostgresError) -> OpaquePointer? {
    while unsafe PQisBusy(handle) == 1 {
      // If it fails, reading does too, and libpq then reports the server's last words.
      let isFlushed = unsafe PQflush(handle) != 1
      let events = try awaitReply(writes: !isFlushed, &silence, purpose)
      // The server may stop to read until its replies are read: always read first.
      if events.contains(.readable), unsafe PQconsumeInput(handle) == 0 { throw lost(purpose) }
    }
    return unsafe PQgetResult(handle)
  }

  /// Closes the connection, and returns the error that reports its loss.
  func lost(_ purpose: String) -> PostgresError {
    let message = unsafe handle == nil ? "it is closed" : String(cString: PQerrorMessage(handle)).singleLine
    close()
    return PostgresError(.connectionLost, "the connection to the server was lost: \(message)", purpose: purpose)
  }

  /// Returns the handle; throws if the connection is closed or interrupted.
  func openHandle(_ purpose: String) throws(PostgresError) -> OpaquePointer {
    guard !interrupter.isInterrupted else {
      close()
      throw PostgresError(.interrupted, "the connection was interrupted", purpose: purpose)
    }
    guard let handle = unsafe handle else { throw lost(purpose) }
    return unsafe handle
  }

  /// Asks the server to cancel what is running, and closes the connection.
  ///
  /// Closing alone would let the server run the statement to its end, and keep its locks.
  private func abandon() {
    let isRunning = unsafe PQtransactionStatus(handle) == PQTRANS_ACTIVE
    if isRunning { unsafe userstore_pq_cancel(handle, 100) }
    close()
  }
}
