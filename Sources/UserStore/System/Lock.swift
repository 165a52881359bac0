import CUserStoreSystem
import Synchronization

/// A short lock around a value, with no logic of its own.
///
/// It is `Mutex`, made visible to the thread sanitizer: on Linux that does not see into the Synchronization library
/// and takes every use of a `Mutex` for a race. In a build for the sanitizer each hand-over is told to it; in any
/// other build the two calls do nothing.
package struct Lock<State: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<State>

  package init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  /// Runs `body` with the value, while nobody else has it.
  ///
  /// Not recursive.
  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // Where the lock lies stands for it: a mutex does not move. Not where the value lies: asking for that is a use of it.
    let mark = unsafe withUnsafePointer(to: self) { unsafe UnsafeRawPointer($0) }
    return try mutex.withLock { state throws(Failure) in
      unsafe userstore_lock_taken(mark)
      defer { unsafe userstore_lock_returned(mark) }
      return try body(&state)
    }
  }
}
