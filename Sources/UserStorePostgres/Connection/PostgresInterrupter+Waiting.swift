import CUserStoreLibPQ

extension PostgresInterrupter {
  /// Waits for a wake-up, at most for `timeout`.
  func wait(for timeout: Duration) {
    let milliseconds = Int32(clamping: timeout.wholeMilliseconds)
    if userstore_pq_wait(-1, 0, 0, descriptor, milliseconds) != 0 { drain() }
  }
}
