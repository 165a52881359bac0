import Testing

@testable import UserStore

/// What the watcher finds while our own writer commits.
@Suite struct LogTailTests {
  private let hub = ListenerHub<ChangeSet> { _, _ in }
  private let tail: LogTail
  private let asked = Recorder<String>()
  private let foreign = ChangeSet(
    cursor: Cursor(epoch: 1, revision: 1, nonce: 1), origin: nil, isForeign: true, content: .held([]))

  init() {
    tail = LogTail(hub: hub, position: Cursor(epoch: 1, revision: 0, nonce: 0))
  }

  @Test func `what is refused during a commit of our own is asked for again after it, even when the commit failed`() {
    tail.beginOwnCommit()
    #expect(isRefused(append()))
    #expect(asked.all == [])
    tail.endOwnCommit()
    #expect(asked.all == ["again"])
    #expect(!isRefused(append()))
    #expect(tail.position == foreign.cursor)
  }

  @Test func `it is asked for once, and not when nothing was refused`() {
    tail.beginOwnCommit()
    tail.endOwnCommit()
    #expect(asked.all == [])
    tail.beginOwnCommit()
    #expect(isRefused(append()) && isRefused(append()))
    tail.endOwnCommit()
    tail.beginOwnCommit()
    tail.endOwnCommit()
    #expect(asked.all == ["again"])
  }

  @Test func `that the log begins anew waits for a commit of our own too`() {
    tail.beginOwnCommit()
    #expect(isRefused(reset()))
    #expect(tail.position.revision.rawValue == 0)
    tail.endOwnCommit()
    #expect(asked.all == ["again"])
    #expect(!isRefused(reset()))
    #expect(tail.position == foreign.cursor)
  }

  private func append() -> LogTail.Found { tail.appendFound([foreign]) { [asked] in asked.record("again") } }

  private func reset() -> LogTail.Found {
    tail.resetFound(from: tail.position, to: foreign.cursor, because: .diverged) { [asked] in asked.record("again") }
  }

  private func isRefused(_ found: LogTail.Found) -> Bool {
    if case .refused = found { true } else { false }
  }
}
