import CUserStoreLibPQ

/// The reasons why a wait for the socket ended; empty after a signal or the end of one `poll`.
struct SocketEvents: OptionSet {
  let rawValue: Int32

  static let readable = SocketEvents(rawValue: 1)
  static let writable = SocketEvents(rawValue: 2)
  static let woken = SocketEvents(rawValue: 4)
}

extension PostgresConnection {
  /// Waits until the socket can be read or written, or there is a wake-up; the only place where a connection waits.
  ///
  /// At the deadline it throws, or with `endsAtDeadline` returns an empty set.
  ///
  /// - Throws: `.timeout`, `.interrupted`; the connection is closed then.
  func awaitSocket(
    reads: Bool = true, writes: Bool, _ deadline: ContinuousClock.Instant?, _ purpose: String,
    endsAtDeadline: Bool = false
  ) throws(PostgresError) -> SocketEvents {
    // Poll even after the deadline, at least once: a reply may have arrived.
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
          // There is nothing to cancel: the server is not working on a reply, or cannot be reached.
          close()
          throw PostgresError(.timeout, "the server did not answer in time", purpose: purpose)
        }
      }
      let events = unsafe SocketEvents(
        rawValue: userstore_pq_wait(
          PQsocket(handle), reads ? 1 : 0, writes ? 1 : 0, interrupter.descriptor,
          Int32(clamping: milliseconds)))
      hasPolled = true
      // An interrupt also wakes; as a state and not an event, it survives `drain`.
      if events.contains(.woken) {
        interrupter.drain()
        hasPendingWakeUp = true
      }
      if !events.isEmpty, !interrupter.isInterrupted { return events }
      if endsAtDeadline, milliseconds == 0 { return [] }
    }
  }

  func beginReply() -> Silence {
    isUnreplicated = false
    blockers = nil
    // Without the server's process number, there is nothing to ask about.
    guard process != nil else { return Silence(settings.connectTimeout, asks: false) }
    // The server can name a lock's holder only while the statement waits, so ask before `lockTimeout`.
    let lockWait = settings.lockTimeout.flatMap { $0 < .seconds(1) ? nil : $0 / 2 }
    return Silence(replyTimeout, asks: true, firstQuestion: lockWait)
  }

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

  /// Sends the rest of the batch, and returns the next result, which the caller owns; nil at the end of a statement's results.
  ///
  /// - Throws: `.connectionLost`, `.timeout`, `.interrupted`; the connection is closed then.
  @unsafe func nextResult(
    _ silence: inout Silence, _ purpose: String
  ) throws(PostgresError) -> OpaquePointer? {
    while unsafe PQisBusy(handle) == 1 {
      // If this fails, reading also fails, and libpq then reports the server's last message.
      let isFlushed = unsafe PQflush(handle) != 1
      let events = try awaitReply(writes: !isFlushed, &silence, purpose)
      // The server may stop reading until its replies are read, so read first.
      if events.contains(.readable), unsafe PQconsumeInput(handle) == 0 { throw lost(purpose) }
    }
    return unsafe PQgetResult(handle)
  }

  /// Closes the connection, and returns the error about its loss.
  func lost(_ purpose: String) -> PostgresError {
    let message = unsafe handle == nil ? "it is closed" : String(cString: PQerrorMessage(handle)).singleLine
    close()
    return PostgresError(.connectionLost, "the connection to the server was lost: \(message)", purpose: purpose)
  }

  func openHandle(_ purpose: String) throws(PostgresError) -> OpaquePointer {
    guard !interrupter.isInterrupted else {
      close()
      throw PostgresError(.interrupted, "the connection was interrupted", purpose: purpose)
    }
    guard let handle = unsafe handle else { throw lost(purpose) }
    return unsafe handle
  }

  /// Asks the server to cancel the running statement, and closes the connection.
  ///
  /// If the connection were only closed, the server would run the statement to its end and keep its locks.
  private func abandon() {
    let isRunning = unsafe PQtransactionStatus(handle) == PQTRANS_ACTIVE
    if isRunning { unsafe userstore_pq_cancel(handle, 100) }
    close()
  }
}
