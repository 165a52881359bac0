import Testing

@testable import UserStore

/// Sets that the watcher finds while the store's own writer commits.
@Suite(.bounded, .serialized) struct PublicationTests {
  private let hub = ListenerHub<ChangeSet> { _, _ in }
  private let publication: Publication
  private let retries = Recorder<String>()
  private let foreign = ChangeSet(
    cursor: Cursor(epoch: 1, revision: 1, nonce: 1), origin: nil, isForeign: true, content: .held([]))

  init() {
    publication = Publication(hub: hub, position: Cursor(epoch: 1, revision: 0, nonce: 0), signal: {})
  }

  @Test func `a set that is refused during a commit of the store is retried after it, even if the commit failed`() {
    publication.beginOwnCommit()
    #expect(isRefused(append()))
    #expect(retries.all == [])
    publication.endOwnCommit()
    #expect(retries.all == ["again"])
    #expect(!isRefused(append()))
    #expect(publication.position == foreign.cursor)
  }

  @Test func `a refused set is retried once, and nothing is retried without a refusal`() {
    publication.beginOwnCommit()
    publication.endOwnCommit()
    #expect(retries.all == [])
    publication.beginOwnCommit()
    #expect(isRefused(append()) && isRefused(append()))
    publication.endOwnCommit()
    publication.beginOwnCommit()
    publication.endOwnCommit()
    #expect(retries.all == ["again"])
  }

  @Test func `a reset of the log waits for a commit of the store as well`() {
    publication.beginOwnCommit()
    #expect(isRefused(reset()))
    #expect(publication.position.revision.rawValue == 0)
    publication.endOwnCommit()
    #expect(retries.all == ["again"])
    #expect(!isRefused(reset()))
    #expect(publication.position == foreign.cursor)
  }

  @Test func `of a set whose first changes were published as a set of their own, the rest is published`() throws {
    let received = Recorder<[Int64]>()
    hub.bind("all", to: .everything) { set in received.record(set.heldChanges?.map(\.sequence) ?? []) }
    func set(_ rows: ClosedRange<Int64>) -> ChangeSet {
      let changes = rows.map { row in
        Change(
          kind: .updated, user: User.ID(1), attribute: "age", old: .null, new: .integer(row), timestamp: 0,
          sequence: row)
      }
      let cursor = Cursor(epoch: 1, revision: rows.upperBound, nonce: 1)
      return ChangeSet(cursor: cursor, origin: nil, isForeign: true, content: .held(changes))
    }
    for rows in [1...2, 1...5, 3...5, 4...6] as [ClosedRange<Int64>] {
      if let ticket = publication.append([set(rows)], cascade: nil) { hub.deliver(through: ticket) }
    }
    #expect(received.all == [[1, 2], [3, 4, 5], [6]])
  }

  // MARK: Successive logs

  @Test func `through any number of successive logs, listeners are called, and reads are ordered`() throws {
    let received = Recorder<Int64>()
    hub.bind("all", to: .everything) { received.record($0.revision.rawValue) }
    // The largest revision.
    let last = Int64(1) << Int64(Revision.bits) - 1
    for epoch in Int64(2)...70_000 {
      let before = publication.round(at: publication.position)
      let next = Cursor(epoch: epoch, revision: epoch % 2 == 0 ? 0 : last - 2, nonce: 1)
      let ahead = publication.round(at: next)
      let ticket = try #require(publication.reset(from: publication.position, to: next, because: .diverged))
      hub.deliver(through: ticket)
      #expect(before < ahead && ahead == publication.round(at: next), "a read of the new log before the reset")
    }
    #expect(received.all.count == 69_999)
    let value = Listenable<Int64>(try value().backing)
    value.bindAndFire("screen") { received.record($0) }
    let next = Cursor(epoch: 70_000, revision: 1, nonce: 1)
    let set = ChangeSet(cursor: next, origin: nil, isForeign: true, content: .discontinuity(.diverged))
    hub.deliver(through: publication.append([set], cascade: nil))
    #expect(received.all.suffix(3) == [0, 1, 1], "the first value, then the round for both listeners")
    #expect(value.value == 1)
  }

  @Test func `everything that was read of the previous log is older than the present one`() throws {
    let old = publication.position
    let next = Cursor(epoch: 2, revision: 0, nonce: 1)
    _ = publication.reset(from: old, to: next, because: .diverged)
    #expect(publication.round(at: Cursor(epoch: 1, revision: 9, nonce: 1)) < publication.round(at: next))
    #expect(publication.round(at: Cursor(epoch: 3, revision: 0, nonce: 1)) > publication.round(at: next))
    let last = Cursor(epoch: 3, revision: 0, nonce: 1)
    _ = publication.reset(from: next, to: last, because: .diverged)
    let logs = (1...4).map { publication.round(at: Cursor(epoch: $0, revision: 9, nonce: 1)) }
    #expect(logs == logs.sorted(), "a reader may be two logs behind")
  }

  /// A value with the last published revision, read as a store's listenables read.
  private func value() throws -> HubValue<ChangeSet> {
    typealias Source = HubValue<ChangeSet>
    let read = { @Sendable [publication] in
      Source.Decoded(
        value: ValueBox(publication.position.revision.rawValue), through: publication.round(at: publication.position))
    }
    return Source(hub: hub, topic: .everything, fallback: nil, decode: { _, _ in read() }, read: read)
  }

  private func append() -> Publication.Found {
    publication.appendFound([foreign]) { [retries] in retries.record("again") }
  }

  private func reset() -> Publication.Found {
    publication.resetFound(from: publication.position, to: foreign.cursor, because: .diverged) { [retries] in
      retries.record("again")
    }
  }

  private func isRefused(_ found: Publication.Found) -> Bool {
    if case .refused = found { true } else { false }
  }
}
