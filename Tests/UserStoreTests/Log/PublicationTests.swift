import Testing

@testable import UserStore

/// What the watcher finds while our own writer commits.
@Suite struct PublicationTests {
  private let hub = ListenerHub<ChangeSet> { _, _ in }
  private let publication: Publication
  private let asked = Recorder<String>()
  private let foreign = ChangeSet(
    cursor: Cursor(epoch: 1, revision: 1, nonce: 1), origin: nil, isForeign: true, content: .held([]))

  init() {
    publication = Publication(hub: hub, position: Cursor(epoch: 1, revision: 0, nonce: 0), signal: {})
  }

  @Test func `what is refused during a commit of our own is asked for again after it, even when the commit failed`() {
    publication.beginOwnCommit()
    #expect(isRefused(append()))
    #expect(asked.all == [])
    publication.endOwnCommit()
    #expect(asked.all == ["again"])
    #expect(!isRefused(append()))
    #expect(publication.position == foreign.cursor)
  }

  @Test func `it is asked for once, and not when nothing was refused`() {
    publication.beginOwnCommit()
    publication.endOwnCommit()
    #expect(asked.all == [])
    publication.beginOwnCommit()
    #expect(isRefused(append()) && isRefused(append()))
    publication.endOwnCommit()
    publication.beginOwnCommit()
    publication.endOwnCommit()
    #expect(asked.all == ["again"])
  }

  @Test func `that the log begins anew waits for a commit of our own too`() {
    publication.beginOwnCommit()
    #expect(isRefused(reset()))
    #expect(publication.position.revision.rawValue == 0)
    publication.endOwnCommit()
    #expect(asked.all == ["again"])
    #expect(!isRefused(reset()))
    #expect(publication.position == foreign.cursor)
  }

  // MARK: Logs that follow each other

  @Test func `however many logs follow each other, listeners hear, and those who come know what they have read`() throws
  {
    let heard = Recorder<Int64>()
    hub.bind("all", to: .everything) { heard.record($0.revision.rawValue) }
    // As large as a revision can be.
    let last = Int64(1) << Int64(Revision.bits) - 1
    for epoch in Int64(2)...70_000 {
      let before = publication.round(at: publication.position)
      let next = Cursor(epoch: epoch, revision: epoch % 2 == 0 ? 0 : last - 2, nonce: 1)
      let ahead = publication.round(at: next)
      let ticket = try #require(publication.reset(from: publication.position, to: next, because: .diverged))
      hub.deliver(through: ticket)
      #expect(before < ahead && ahead == publication.round(at: next), "read before the tail knew of the log")
    }
    #expect(heard.all.count == 69_999)
    let value = Listenable<Int64>(try value().backing)
    value.bindAndFire("screen") { heard.record($0) }
    let next = Cursor(epoch: 70_000, revision: 1, nonce: 1)
    let set = ChangeSet(cursor: next, origin: nil, isForeign: true, content: .reset(.diverged))
    hub.deliver(through: publication.append([set], cascade: nil))
    #expect(heard.all.suffix(3) == [0, 1, 1], "the first value, then the round, told to both")
    #expect(value.value == 1)
  }

  @Test func `what was read of the log before is older than all of this one`() throws {
    let old = publication.position
    let next = Cursor(epoch: 2, revision: 0, nonce: 1)
    _ = publication.reset(from: old, to: next, because: .diverged)
    #expect(publication.round(at: Cursor(epoch: 1, revision: 9, nonce: 1)) < publication.round(at: next))
    #expect(publication.round(at: Cursor(epoch: 3, revision: 0, nonce: 1)) > publication.round(at: next))
  }

  /// The revision that the hub was given last, read as a store's listenables read.
  private func value() throws -> HubValue<ChangeSet> {
    typealias Source = HubValue<ChangeSet>
    let read = { @Sendable [publication] in
      Source.Decoded(
        value: ValueBox(publication.position.revision.rawValue), through: publication.round(at: publication.position))
    }
    return Source(hub: hub, topic: .everything, fallback: nil, decode: { _ in read() }, read: read)
  }

  private func append() -> Publication.Found { publication.appendFound([foreign]) { [asked] in asked.record("again") } }

  private func reset() -> Publication.Found {
    publication.resetFound(from: publication.position, to: foreign.cursor, because: .diverged) { [asked] in
      asked.record("again")
    }
  }

  private func isRefused(_ found: Publication.Found) -> Bool {
    if case .refused = found { true } else { false }
  }
}
