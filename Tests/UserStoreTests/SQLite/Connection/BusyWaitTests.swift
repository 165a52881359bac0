import Testing

@testable import UserStore

/// How long a connection waits for locks of other connections.
@Suite(.bounded, .serialized) struct BusyWaitTests {
  /// The lengths of all pauses until the wait gives up.
  private func pauses(within timeout: Int) -> [Int] {
    var pauses: [Int] = []
    while let pause = BusyWait.pause(after: pauses.count, within: timeout) { pauses.append(pause) }
    return pauses
  }

  @Test func `the pauses are SQLite's, and their sum is the timeout`() {
    #expect(pauses(within: 0) == [])
    #expect(pauses(within: 1) == [1])
    #expect(pauses(within: 20) == [1, 2, 5, 10, 2])
    #expect(pauses(within: 500) == [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100, 100, 72])
    #expect(pauses(within: 600_000).reduce(0, +) == 600_000)
    #expect(BusyWait.pause(after: Int(Int32.max), within: Int(Int32.max)) == nil)
  }

  @Test func `a wait ends after the timeout, or at once while waiting is turned off`()
    throws
  {
    let slept = Recorder<Int>()
    let wait = BusyWait(timeout: 20, of: nil, isInterruptible: true) { slept.record($0) }
    #expect((0...5).map { wait.waits(after: $0) } == [true, true, true, true, true, false])
    #expect(slept.all == [1, 2, 5, 10, 2])
    wait.isWaiting = false
    #expect(!wait.waits(after: 0))
    wait.isWaiting = true
    #expect(wait.waits(after: 0) && slept.count == 6)
  }

  @Test func `an interrupt ends a wait, except while the wait is not interruptible`() throws {
    let folder = try Folder()
    try folder.open().close()
    let file = try DatabaseFile(folder.database, Configuration()).connections
    let slept = Recorder<Int>()
    let waits = [true, false].map { isInterruptible in
      BusyWait(timeout: 600_000, of: file, isInterruptible: isInterruptible) { slept.record($0) }
    }
    #expect(waits.map { $0.waits(after: 0) } == [true, true])
    _ = file.interrupt()
    #expect(waits.map { $0.waits(after: 1) } == [false, true])
    #expect(slept.all == [1, 1, 2])
    waits[0].isInterruptible = false
    #expect(waits[0].waits(after: 1))
  }
}
