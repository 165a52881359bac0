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
  /// Tells a thread from all others that run.
  typealias ID = ObjectIdentifier

  /// The calling thread.
  static var current: ID { ObjectIdentifier(mark.value) }

  private final class Mark {}
  private static let mark = ThreadLocal<Mark> { Mark() }

  /// Nil until it runs.
  private let id = Lock<ID?>(nil)
  private let end = Parker()

  /// Starts a thread that runs `body` once.
  ///
  /// - Parameters:
  ///   - name: What debuggers show.
  ///   - afterEnd: What it does after `body`, while those that join go on.
  ///   - body: Its work.
  /// - Returns: the thread; it need not be joined.
  /// - Throws: `SystemError` when the system has no thread left.
  @discardableResult
  static func start(
    named name: StaticString, afterEnd: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) -> SystemThread {
    let started = SystemThread()
    let entry = Entry(name: name) {
      started.id.withLock { $0 = current }
      body()
      started.end.wake()
      afterEnd()
    }
    let argument = unsafe Unmanaged.passRetained(entry)
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
    return started
  }

  /// Waits until the thread has run its body; on the thread itself it returns at once.
  func join() {
    if id.withLock({ $0 == Self.current }) { return }
    end.park()
    // Wakes the next thread that waits here.
    end.wake()
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
