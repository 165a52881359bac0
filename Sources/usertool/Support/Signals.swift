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
/// SIGINT and SIGTERM end it at once, with 130 or 143: a write that is under way is then not committed, or is whole.
/// A command that has something to say at its end takes them over. A closed pipe shows at the next write.
final class Signals: Sendable {
  static let shared = Signals()

  private let reason = Atomic<Int32>(0)
  private let handler = Lock<(@Sendable () -> Void)?>(nil)
  private let waker = System.pipe()

  /// Lets the signals come here.
  func install() {
    System.ignore(SIGPIPE)
    for (number, status) in [(SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated)] {
      System.ignore(number)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      // The handler holds its source: it must live as long as the process.
      source.setEventHandler {
        _ = source
        self.end(with: status)
      }
      source.resume()
    }
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

  /// Ends the process, or asks the command that has taken over to end.
  func end(with status: ExitStatus) {
    let isFirst = reason.exchange(status.rawValue, ordering: .sequentiallyConsistent) == 0
    guard isFirst, let handler = handler.withLock({ $0 }) else { System.exit(status) }
    if let waker { _ = System.write([1], to: waker.writer) }
    handler()
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
