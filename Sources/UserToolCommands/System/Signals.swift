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
/// SIGINT, SIGTERM and SIGHUP end it with 130, 143 or 129: operations are interrupted, so that a write is either rolled back or
/// complete, and the stores are closed. A command that prints something at its end takes the signals over; since a server may
/// never answer, it is interrupted after ten seconds. A second signal ends the process at once. A closed pipe is noticed at the
/// next write, or earlier by `Deadline`.
final class Signals: Sendable {
  static let shared = Signals()

  private let reason = Atomic<Int32>(0)
  private let handler = Lock<(@Sendable () -> Void)?>(nil)
  private let farewell = Lock<String?>(nil)
  private let waker = try? SelfPipe()
  private let ending = DispatchQueue(label: "end")
  private let schedule = Lock(EndingSchedule())

  /// The time that a command that has taken the signals over has to end.
  private static let longestTakeover = DispatchTimeInterval.seconds(10)
  private static let longestEnd = DispatchTimeInterval.seconds(2)
  private let isDone = DispatchSemaphore(value: 0)

  /// Handles the signals that end the process; an earlier one has its default action, which is harmless before anything is open.
  func install() {
    _ = System.ignoredAtStart
    System.ignore(SIGPIPE)
    for (number, status) in [(SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated), (SIGHUP, .hungUp)] {
      // A process that was started with nohup must outlive its terminal.
      if number == SIGHUP, System.isIgnored(number) { continue }
      observe(number) { self.receive(status) }
    }
  }

  /// Replaces the default action of a signal for the life of the process, as soon as this method returns.
  func observe(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    #if canImport(Darwin)
      // On Darwin a source does not replace the default action; on Linux, Dispatch's handler does.
      System.ignore(number)
    #endif
    // No global queue: without /proc, Dispatch may end the program while work waits in one.
    let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "signal"))
    // Dispatch arms a source on another thread.
    let armed = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { armed.signal() }
    // The handler retains its source for the life of the process.
    source.setEventHandler {
      _ = source
      action()
    }
    source.resume()
    armed.wait()
  }

  /// The reason why the process must end; nil if it need not.
  var status: ExitStatus? {
    let status = ExitStatus(rawValue: reason.load(ordering: .sequentiallyConsistent))
    return status == .success ? nil : status
  }

  func check() throws(Exit) {
    if let status { throw Exit(status: status) }
  }

  /// Calls `handler` at the first signal, after which the command must end; a second signal ends the process.
  func takeOver(_ handler: @escaping @Sendable () -> Void) {
    self.handler.withLock { $0 = handler }
  }

  /// Sets the line that is printed if a signal ends the process; an empty line only ends the line of the cursor.
  ///
  /// A command that has taken the signals over prints its own.
  func setFarewell(_ line: String?) {
    farewell.withLock { $0 = line }
  }

  /// The text before a message at the end, which must not follow the terminal's ^C.
  var lineEnd: String { status == .interrupted && System.isTerminal(2) ? "\n" : "" }

  private func receive(_ status: ExitStatus) {
    let now = System.uptime
    if schedule.withLock({ $0.endsAtOnce(at: now) }) { System.exit(status) }
    end(with: status)
  }

  /// Ends the process soon, or asks a command that has taken the signals over to end.
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
      // The command cleans up first, for example removes its draft.
      if OpenStores.shared.close() { _ = self.isDone.wait(timeout: .now() + Self.longestEnd) }
      if handler == nil, let line = self.farewell.withLock({ $0 }) {
        Messages.shared.writeLine(line.isEmpty ? line : self.lineEnd + line)
      }
      System.exit(status)
    }
  }

  /// Reports that the command has ended; if a signal is ending the process, waits for that.
  func waitIfEnding() {
    isDone.signal()
    guard status != nil, handler.withLock({ $0 == nil }) else { return }
    while true { System.wait() }
  }

  func sleep(milliseconds: Int32) {
    System.wait(waker: waker?.reader ?? -1, milliseconds: milliseconds)
  }

  /// Waits until the descriptor accepts bytes; returns false if the command must end first.
  func wait(for output: Int32) -> Bool {
    System.wait(output: output, waker: waker?.reader ?? -1)
  }
}

/// Decides whether another signal ends a process that is already ending.
struct EndingSchedule {
  /// The time at which the process started to end, in milliseconds.
  private var start: Int64?

  /// Signals within this time count as one: `timeout`, and a closing terminal, send two at once.
  private static let graceTime: Int64 = 300

  mutating func begin(at now: Int64) {
    if start == nil { start = now }
  }

  func endsAtOnce(at now: Int64) -> Bool {
    start.map { now - $0 > Self.graceTime } ?? false
  }
}
