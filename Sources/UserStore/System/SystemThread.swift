import CUserStoreSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A thread of the operating system, for work that blocks: the concurrency pool must never wait for a lock of SQLite.
final class SystemThread: Sendable {
  /// Identifies a thread among all that are running.
  typealias ID = ObjectIdentifier

  static var current: ID { ObjectIdentifier(mark.value) }

  private final class Mark {}
  private static let mark = ThreadLocal<Mark> { Mark() }

  /// Nil until the thread runs.
  private let id = Lock<ID?>(nil)
  private let end = Parker()

  /// Starts a thread that runs `body`, and then `afterEnd`, for which `join` does not wait; debuggers show its name, and it need
  /// not be joined.
  @discardableResult
  static func start(
    named name: StaticString, afterEnd: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) -> SystemThread {
    let started = SystemThread()
    let work = Work {
      unsafe userstore_name_thread(name.utf8Start)
      started.id.withLock { $0 = current }
      body()
      started.end.wake()
      afterEnd()
    }
    let argument = unsafe Unmanaged.passRetained(work)
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let code = unsafe pthread_create(
      &thread, &attributes,
      { argument in
        // Optional on Linux, but not on Darwin.
        unsafe Unmanaged<Work>.fromOpaque((argument as UnsafeMutableRawPointer?)!).takeRetainedValue().run()
        return nil
      }, argument.toOpaque())
    guard code == 0 else {
      unsafe argument.release()
      throw SystemError(operation: "start a thread", number: code)
    }
    return started
  }

  /// Waits until the body has ended; returns immediately on the thread itself.
  func join() {
    if id.withLock({ $0 == Self.current }) { return }
    end.park()
    // For the next thread that joins.
    end.wake()
  }

  /// Puts the calling thread to sleep; only where there is nothing to wait for.
  static func sleep(milliseconds: Int) { sleep(microseconds: milliseconds * 1_000) }

  static func sleep(microseconds: Int) {
    var time = timespec(tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1_000)
    unsafe nanosleep(&time, nil)
  }

  static func yield() { sched_yield() }

  private final class Work: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

/// One object for each thread, created at its first use and released when the thread ends.
///
/// Not a task-local value: a task that a listener starts would inherit it, and pass for the listener.
struct ThreadLocal<Object: AnyObject>: Sendable {
  private let key: pthread_key_t
  private let make: @Sendable () -> Object

  init(_ make: @escaping @Sendable () -> Object) {
    var key = pthread_key_t()
    let code = unsafe pthread_key_create(&key) { object in
      unsafe Unmanaged<AnyObject>.fromOpaque((object as UnsafeMutableRawPointer?)!).release()
    }
    precondition(code == 0, "the process has used up its thread-local keys (PTHREAD_KEYS_MAX)")
    self.key = key
    self.make = make
  }

  var value: Object { unsafe reference.takeUnretainedValue() }

  /// Calls `body` with the object of the calling thread, which holds it: no other reference needs to be counted.
  func withValue<Result>(_ body: (Object) -> Result) -> Result {
    unsafe reference._withUnsafeGuaranteedRef(body)
  }

  private var reference: Unmanaged<Object> {
    if let pointer = unsafe pthread_getspecific(key) { return unsafe Unmanaged.fromOpaque(pointer) }
    let object = unsafe Unmanaged.passRetained(make())
    unsafe pthread_setspecific(key, object.toOpaque())
    return unsafe object
  }
}

/// Lets a thread sleep until another one wakes it; a wake before that is kept, one at most.
///
/// A condition variable and not a futex: it is the same on every system, and the thread sanitizer understands it.
@safe final class Parker: @unchecked Sendable {
  // Unchecked: the pointer is set once, and its memory is only accessed with the mutex in it locked.
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

  /// Sleeps until `wake` is called, and consumes that call.
  func park() {
    unsafe pthread_mutex_lock(&storage.pointee.mutex)
    while unsafe !storage.pointee.woken {
      unsafe pthread_cond_wait(&storage.pointee.condition, &storage.pointee.mutex)
    }
    unsafe storage.pointee.woken = false
    unsafe pthread_mutex_unlock(&storage.pointee.mutex)
  }

  /// Ends a `park`, the current one or the next.
  func wake() {
    unsafe pthread_mutex_lock(&storage.pointee.mutex)
    unsafe storage.pointee.woken = true
    unsafe pthread_mutex_unlock(&storage.pointee.mutex)
    // After unlocking: otherwise the thread would wake only to wait for the mutex.
    unsafe pthread_cond_signal(&storage.pointee.condition)
  }
}
