/// For a program that is about to end, and does not wait for what its stores are doing.
extension UserStore {
  /// Closes the store, and ends what other threads are doing in it.
  ///
  /// Their statements fail; when this returns, they have let go of their connections.
  package func interruptAndClose() {
    reader.close()
    writer?.stop()
    watcher?.stop()
    _ = engine.interrupt()
    close()
    // A statement that began after the interrupt is met by the next one; nothing reports that it has ended.
    while engine.interrupt() == true { SystemThread.sleep(milliseconds: 1) }
    engine.release()
  }

  /// Ends what is under way in every file that is open in this process, once: also in a store that is being opened.
  ///
  /// From here on no store of this process waits for a lock of another program.
  package static func interruptOnce() {
    _ = FileConnections.interruptAll()
  }

  /// Ends what is under way in every file that is open in this process, until all are closed; stores are closed before.
  ///
  /// - Returns: whether there was something to end.
  package static func interruptOpenFiles() -> Bool {
    var isOpen = false
    while FileConnections.interruptAll() {
      isOpen = true
      // Nothing can report that all are closed: a statement that begins meanwhile needs the next interrupt to end.
      SystemThread.sleep(milliseconds: 1)
    }
    return isOpen
  }
}
