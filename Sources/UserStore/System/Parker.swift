#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lets a thread sleep until another one wakes it; a wake that comes first is kept, one at most.
///
/// A condition variable and not a futex of our own: it is the same on every system, and the thread sanitizer knows it.
@safe final class Parker: @unchecked Sendable {
  // Unchecked: the pointer is set once, and what it points to is only touched under the mutex inside it.
  private let storage: UnsafeMutablePointer<Storage>

  @unsafe private struct Storage {
    var mutex = unsafe pthread_mutex_t()
    var condition = pthread_cond_t()
    var woken = false
  }

  init() {
    unsafe storage = .allocate(capacity: 1)
    unsafe storage.initialize(to: unsafe Storage())
    unsafe pthread_mutex_init(&storage.pointee.mutex, nil)
    unsafe pthread_cond_init(&storage.pointee.condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(&storage.pointee.condition)
    unsafe pthread_mutex_destroy(&storage.pointee.mutex)
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
  }

  /// Sleeps until `wake` was called, then forgets that call.
  func park() {
    unsafe pthread_mutex_lock(&storage.pointee.mutex)
    while unsafe !storage.pointee.woken {
      unsafe pthread_cond_wait(&storage.pointee.condition, &storage.pointee.mutex)
    }
    unsafe storage.pointee.woken = false
    unsafe pthread_mutex_unlock(&storage.pointee.mutex)
  }

  /// Ends a `park`, the present one or the next.
  func wake() {
    unsafe pthread_mutex_lock(&storage.pointee.mutex)
    unsafe storage.pointee.woken = true
    unsafe pthread_mutex_unlock(&storage.pointee.mutex)
    // After unlocking, or the thread would wake only to wait for the mutex.
    unsafe pthread_cond_signal(&storage.pointee.condition)
  }
}
