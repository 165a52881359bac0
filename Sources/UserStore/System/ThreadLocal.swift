#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// One object for each thread, made at its first use there and released when the thread ends.
///
/// Not a task-local value: a task that a listener starts inherits those, and must not pass for the listener.
struct ThreadLocal<Object: AnyObject>: Sendable {
  private let key: pthread_key_t
  private let make: @Sendable () -> Object

  /// - Parameter make: builds the object of a thread.
  init(_ make: @escaping @Sendable () -> Object) {
    var key = pthread_key_t()
    let code = unsafe pthread_key_create(&key) { object in
      #if canImport(Darwin)
        unsafe Unmanaged<AnyObject>.fromOpaque(object).release()
      #else
        if let object = unsafe object { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
      #endif
    }
    precondition(code == 0, "the process has used up its thread-local keys (PTHREAD_KEYS_MAX)")
    self.key = key
    self.make = make
  }

  /// The object of the calling thread.
  var value: Object {
    if let pointer = unsafe pthread_getspecific(key) {
      return unsafe Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
    }
    let object = make()
    unsafe pthread_setspecific(key, Unmanaged.passRetained(object).toOpaque())
    return object
  }
}
