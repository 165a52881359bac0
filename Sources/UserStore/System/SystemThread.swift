import CUserStoreSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A thread of the operating system, for work that blocks: the concurrency pool must never wait for a lock of SQLite.
enum SystemThread {
  /// Tells a thread from all others that run.
  typealias ID = ObjectIdentifier

  /// The calling thread.
  static var current: ID { ObjectIdentifier(mark.value) }

  private final class Mark {}
  private static let mark = ThreadLocal<Mark> { Mark() }

  /// Starts a detached thread that runs `body` once.
  ///
  /// - Throws: `SystemError` when the system has no thread left.
  static func start(named name: StaticString, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let argument = unsafe Unmanaged.passRetained(Entry(name: name, body: body))
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let code = unsafe pthread_create(&thread, &attributes, threadMain, argument.toOpaque())
    guard code == 0 else {
      unsafe argument.release()
      throw SystemError(operation: "start a thread", number: code)
    }
  }

  /// Lets the calling thread sleep: only where SQLite gives nothing to wait for.
  static func sleep(milliseconds: Int) { sleep(microseconds: milliseconds * 1_000) }

  /// The same for shorter times.
  static func sleep(microseconds: Int) {
    var time = timespec(tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1_000)
    unsafe nanosleep(&time, nil)
  }

  /// Lets another thread run, if one waits for the processor.
  static func yield() { sched_yield() }

  fileprivate final class Entry: Sendable {
    let name: StaticString
    let body: @Sendable () -> Void

    init(name: StaticString, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  fileprivate static func run(_ argument: UnsafeMutableRawPointer) {
    let entry = unsafe Unmanaged<Entry>.fromOpaque(argument).takeRetainedValue()
    unsafe entry.name.utf8Start.withMemoryRebound(to: CChar.self, capacity: entry.name.utf8CodeUnitCount + 1) { name in
      unsafe userstore_name_thread(name)
    }
    entry.body()
  }
}

#if canImport(Darwin)
  private func threadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    unsafe SystemThread.run(argument)
    return nil
  }
#else
  private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument { unsafe SystemThread.run(argument) }
    return nil
  }
#endif
