import Dispatch
import Synchronization
import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Ends the process on a signal, a timeout, or a closed pipe.
///
/// SIGINT, SIGTERM and SIGHUP end it with 130, 143 or 129: operations are interrupted, so that a write is either rolled back
/// or complete, and the stores are closed. A command that prints something at its end takes the signals over, and is
/// interrupted if it has not ended after ten seconds, because a server may never answer it. A second signal ends the process
/// at once. A closed pipe is noticed at the next write, or earlier by `Deadline`.
final class Signals: Sendable {
  static let shared = Signals()

  private let reason = Atomic<Int32>(0)
  private let handler = Lock<(@Sendable () -> Void)?>(nil)
  private let farewell = Lock<String?>(nil)
  private let waker = try? SelfPipe()
  private let ending = DispatchQueue(label: "end")
  private let schedule = Lock(EndingSchedule())

  /// How long a command that has taken the signals over may take to end.
  private static let longestTakeover = DispatchTimeInterval.seconds(10)
  private static let longestEnd = DispatchTimeInterval.seconds(2)
  /// Signaled when the command has ended.
  private let isDone = DispatchSemaphore(value: 0)

  /// Handles the signals that end the process.
  ///
  /// One that arrives before has its default action, and ends a process that has nothing open yet.
  func install() {
    _ = System.ignoredAtStart
    System.ignore(SIGPIPE)
    for (number, status) in [(SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated), (SIGHUP, .hungUp)] {
      // A process that was started with nohup must outlive its terminal.
      if number == SIGHUP, System.isIgnored(number) { continue }
      observe(number) { self.receive(status) }
    }
  }

  /// Calls `action` at each signal with this number that arrives after this method returns, instead of the default action,
  /// as long as the process lives.
  func observe(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    #if canImport(Darwin)
      // On Darwin a source does not replace the default action. On Linux, Dispatch installs a handler that does.
      System.ignore(number)
    #endif
    // Not a global queue: without /proc, Dispatch may end the program while work waits in one.
    let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "signal"))
    // Dispatch arms a source on a thread of its own.
    let armed = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { armed.signal() }
    // The handler holds its source, which must live as long as the process.
    source.setEventHandler {
      _ = source
      action()
    }
    source.resume()
    armed.wait()
  }

  /// Why the process must end; nil if it need not.
  var status: ExitStatus? {
    let status = ExitStatus(rawValue: reason.load(ordering: .sequentiallyConsistent))
    return status == .success ? nil : status
  }

  /// Throws `Exit` if the process must end.
  func check() throws(Exit) {
    if let status { throw Exit(status: status) }
  }

  /// Makes the first signal call `handler`, after which the command must end on its own; a second signal ends the process.
  func takeOver(_ handler: @escaping @Sendable () -> Void) {
    self.handler.withLock { $0 = handler }
  }

  /// Sets the line that is printed if a signal ends the process; a command that has taken the signals over prints its own.
  ///
  /// An empty line ends the one on which the cursor is.
  func setFarewell(_ line: String?) {
    farewell.withLock { $0 = line }
  }

  /// The text before a message at the end: a terminal shows ^C, so the message starts on the next line.
  var lineEnd: String { status == .interrupted && System.isTerminal(2) ? "\n" : "" }

  private func receive(_ status: ExitStatus) {
    let now = System.uptime
    if schedule.withLock({ $0.endsAtOnce(at: now) }) { System.exit(status) }
    end(with: status)
  }

  /// Ends the process soon, or asks the command to end if it has taken the signals over.
  ///
  /// Returns at once: the calling thread may be inside a transaction, which must end before the store can close.
  func end(with status: ExitStatus) {
    let isFirst = reason.compareExchange(
      expected: 0, desired: status.rawValue, ordering: .sequentiallyConsistent
    ).exchanged
    if !isFirst { return }
    let now = System.uptime
    schedule.withLock { $0.begin(at: now) }
    waker?.wake()
    let handler = handler.withLock { $0 }
    handler?()
    ending.asyncAfter(deadline: handler == nil ? .now() : .now() + Self.longestTakeover) {
      // Lets the command clean up first, for example remove its draft.
      if OpenStores.shared.close() { _ = self.isDone.wait(timeout: .now() + Self.longestEnd) }
      if handler == nil, let line = self.farewell.withLock({ $0 }) {
        Messages.shared.writeLine(line.isEmpty ? line : self.lineEnd + line)
      }
      System.exit(status)
    }
  }

  /// Reports that the command has ended, and waits for the end of the process if a signal is already ending it.
  func waitIfEnding() {
    isDone.signal()
    guard status != nil, handler.withLock({ $0 == nil }) else { return }
    while true { System.wait() }
  }

  /// Sleeps until the time has passed or the command must end.
  func sleep(milliseconds: Int32) {
    System.wait(waker: waker?.reader ?? -1, milliseconds: milliseconds)
  }

  /// Waits until the descriptor accepts bytes; returns false if the command must end before it does.
  func wait(for output: Int32) -> Bool {
    System.wait(output: output, waker: waker?.reader ?? -1)
  }
}

/// When another signal ends a process that is already ending.
struct EndingSchedule {
  /// When the process started to end, in milliseconds.
  private var start: Int64?

  /// Signals within this time count as one: `timeout`, and a terminal that closes, send two at once.
  private static let graceTime: Int64 = 300

  /// Records that the process starts to end, unless it already did.
  mutating func begin(at now: Int64) {
    if start == nil { start = now }
  }

  /// Whether a signal that arrives now ends the process at once.
  func endsAtOnce(at now: Int64) -> Bool {
    start.map { now - $0 > Self.graceTime } ?? false
  }
}
