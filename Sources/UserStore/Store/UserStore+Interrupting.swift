// For a program that ends without waiting for what its stores are doing.
extension UserStore {
  /// Closes the store as `close` does, and ends what other threads are doing in it: a long query does not delay the end of a program.
  ///
  /// Their reads and writes throw `StoreError.Code.closed`; a write that has not committed is undone. Returns when every connection
  /// is closed, so that one file remains if no other program has it open. Waits for a listener or a closure of a transaction that
  /// another thread is running. Do not call it inside a listener or a transaction of the store.
  public func interruptAndClose() {
    reader.close()
    writer?.stop()
    // On another thread, because it waits for threads that may be between two statements: an interrupt ends only a statement
    // that is running.
    let closing = try? SystemThread.start(named: "userstore-close") { [self] in close() }
    if closing == nil { close() }
    // Polled: nothing reports that a statement has started.
    while engine.interrupt() { SystemThread.sleep(milliseconds: 1) }
    closing?.join()
    engine.release()
  }

  /// Interrupts all statements in every file that is open in this process once, including a store that is being opened.
  ///
  /// From then on, no store of this process waits for a lock of another program.
  package static func interruptOnce() { _ = FileConnections.interruptAll() }

  /// Interrupts all statements in every open file until all are closed, and returns whether any was open; close stores before.
  package static func interruptOpenFiles() -> Bool {
    var isOpen = false
    while FileConnections.interruptAll() {
      isOpen = true
      // Polled, because a statement that starts in between needs the next interrupt to end.
      SystemThread.sleep(milliseconds: 1)
    }
    return isOpen
  }
}
