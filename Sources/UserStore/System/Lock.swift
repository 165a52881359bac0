import CUserStoreSystem
import Synchronization

/// A `Mutex` that the thread sanitizer understands.
///
/// On Linux the sanitizer does not see into the Synchronization library, and reports every use of a `Mutex` as a race. In a
/// build for the sanitizer, each acquire and release is reported to it; in other builds the two calls do nothing.
package struct Lock<State: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<State>

  package init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  /// Runs `body` with exclusive access to the value; not recursive.
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // The lock's address identifies it: a mutex does not move. Not the value's address: taking that accesses the value.
    let mark = unsafe withUnsafePointer(to: self) { unsafe UnsafeRawPointer($0) }
    return try mutex.withLock { state throws(Failure) in
      unsafe userstore_lock_taken(mark)
      defer { unsafe userstore_lock_returned(mark) }
      return try body(&state)
    }
  }
}
