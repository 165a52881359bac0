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

/// What ends the process from outside: a signal, or a time that has passed.
///
/// SIGINT, SIGTERM and SIGHUP end it with 130, 143 or 129: what is under way is interrupted, a write is then rolled back or
/// whole, and the stores are closed. A command that has something to say at its end takes them over. A second signal ends
/// the process at once. A closed pipe shows at the next write.
final class Signals: Sendable {
  static let shared = Signals()

  private let reason = Atomic<Int32>(0)
  private let handler = Lock<(@Sendable () -> Void)?>(nil)
  private let waker = System.pipe()
  private let schedule = Lock(EndingSchedule())

  private static let longestEnd = DispatchTimeInterval.seconds(2)
  /// The command has come to its end.
  private let isDone = DispatchSemaphore(value: 0)

  /// Lets the signals come here: all that are sent after this returns.
  ///
  /// Dispatch arms a source on a thread of its own. A signal that comes before has its default action, and ends the process,
  /// which has nothing open yet.
  func install() {
    System.ignore(SIGPIPE)
    let armed = DispatchGroup()
    for (number, status) in [(SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated), (SIGHUP, .hungUp)] {
      // A process that was started with nohup is to outlive its terminal.
      if number == SIGHUP, System.isIgnored(number) { continue }
      #if canImport(Darwin)
        // There the default action is taken beside the source. On Linux Dispatch puts a handler in its place.
        System.ignore(number)
      #endif
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      armed.enter()
      source.setRegistrationHandler { armed.leave() }
      // The handler holds its source: it must live as long as the process.
      source.setEventHandler {
        _ = source
        self.receive(status)
      }
      source.resume()
    }
    armed.wait()
  }

  /// Why the process is to end; nil while it is not.
  var status: ExitStatus? {
    let status = ExitStatus(rawValue: reason.load(ordering: .sequentiallyConsistent))
    return status == .success ? nil : status
  }

  /// Lets the first signal call `handler`, after which the command ends by itself.
  ///
  /// The second one ends it at once.
  func takeOver(_ handler: @escaping @Sendable () -> Void) {
    self.handler.withLock { $0 = handler }
  }

  private func receive(_ status: ExitStatus) {
    let now = System.uptime
    if schedule.withLock({ $0.endsAtOnce(at: now) }) { System.exit(status) }
    end(with: status)
  }

  /// Ends the process soon, or asks the command that has taken over to end.
  ///
  /// Returns at once: the calling thread may be in the middle of a transaction, which must end before the store can.
  func end(with status: ExitStatus) {
    let isFirst = reason.compareExchange(
      expected: 0, desired: status.rawValue, ordering: .sequentiallyConsistent
    ).exchanged
    if !isFirst { return }
    let now = System.uptime
    schedule.withLock { $0.begin(at: now) }
    if let waker { _ = System.write([1], to: waker.writer) }
    if let handler = handler.withLock({ $0 }) { return handler() }
    DispatchQueue.global().async {
      // The command removes its draft, and whatever else it leaves to its end.
      if OpenStores.shared.close() { _ = self.isDone.wait(timeout: .now() + Self.longestEnd) }
      System.exit(status)
    }
  }

  /// The command has ended: waits for the end of the process, if it was told to end and nothing has taken over.
  func waitIfEnding() {
    isDone.signal()
    guard status != nil, handler.withLock({ $0 == nil }) else { return }
    while true { _ = System.wait(output: -1, waker: -1, milliseconds: -1) }
  }

  /// Sleeps until the time has passed, or until the command is to end.
  func sleep(milliseconds: Int32) {
    _ = System.wait(output: -1, waker: waker?.reader ?? -1, milliseconds: milliseconds)
  }

  /// Waits until the descriptor takes bytes.
  ///
  /// - Returns: false when it does not, and the command is to end.
  func wait(for output: Int32) -> Bool {
    System.wait(output: output, waker: waker?.reader ?? -1, milliseconds: -1).output
  }
}

/// When a further signal ends a process that is ending already.
struct EndingSchedule {
  /// When the process began to end, in milliseconds.
  private var start: Int64?

  /// Signals within this time count as one: a terminal that closes and `timeout` each send two at once.
  private static let patience: Int64 = 300

  /// The process begins to end, for whatever reason.
  mutating func begin(at now: Int64) {
    if start == nil { start = now }
  }

  /// Whether a signal that comes now ends the process at once.
  func endsAtOnce(at now: Int64) -> Bool {
    start.map { now - $0 > Self.patience } ?? false
  }
}
