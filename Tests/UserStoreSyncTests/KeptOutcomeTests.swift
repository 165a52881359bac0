import Foundation
import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// What a store keeps of requests that are sent again.
///
/// `test_repeated_requests.py` tests what `userserver` does with it, on both engines.
@Suite(.timeLimit(.minutes(2))) struct KeptOutcomeTests {
  private let fixture: SyncFixture
  private let store: UserStore

  init() throws {
    fixture = try SyncFixture()
    store = try fixture.open("requests")
  }

  private func outcome(of request: Int64) throws -> String? { try store.write { try $0.outcome(of: request) } }

  private var decisions: Int {
    get throws {
      let plain = try PlainConnection(fixture.folder + "/requests.db")
      guard case .integer(let count)? = try plain.value("SELECT count(*) FROM userstore_decisions") else { return -1 }
      return Int(count)
    }
  }

  @Test func `an outcome is kept with what the write changes, and known to all processes`() throws {
    #expect(try outcome(of: .min) == nil)
    let zoe = try store.write { transaction in
      try transaction.keep("“1” \u{0}\n", of: .min)
      #expect(try transaction.outcome(of: .min) == "“1” \u{0}\n")
      return try transaction.add(name: "Zoë")
    }
    try store.write { try $0.keep("", of: .max) }
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.keep("2", of: 2)
        try transaction.remove(zoe)
        throw Stop()
      }
    }
    let other = try fixture.open("requests")
    let known = try other.write { transaction in try [.min, .max, 2].map { try transaction.outcome(of: $0) } }
    #expect(known == ["“1” \u{0}\n", "", nil])
    #expect(try other.user(zoe) != nil)
    #expect(throws: StoreError.self) { try other.write { try $0.keep("again", of: .min) } }
    #expect(try outcome(of: .min) == "“1” \u{0}\n")
    // No listener is told, and no other replica.
    #expect(try store.read { try $0.session.server() == nil })
    #expect(try store.check().filter { $0.severity == .problem }.isEmpty)
  }

  @Test func `outcomes are forgotten after a day, however many there are`() throws {
    try store.write { transaction in for request in 1...2_500 { try transaction.keep("old", of: Int64(request)) } }
    let plain = try PlainConnection(fixture.folder + "/requests.db")
    try plain.run("UPDATE userstore_decisions SET at = at - \(24 * 60 * 60 * 1_000)")
    try store.write { try $0.keep("new", of: 0) }
    // About a thousand at once, the oldest first: all of a millisecond.
    for most in [1_501, 501, 1] {
      _ = try outcome(of: 0)
      #expect(try 1...most ~= decisions)
    }
    #expect(try outcome(of: 2_500) == nil)
    #expect(try outcome(of: 0) == "new")
    try store.write { try $0.keep("again", of: 2_500) }
    #expect(try outcome(of: 2_500) == "again")
  }

  @Test func `the identity of a replica's set is none of a request, and the other way round`() async throws {
    let nix = try await fixture.addNIX()
    let copy = try fixture.open()
    let replica = try Replica(of: copy, from: DirectTransport(to: fixture.service), writes: .queued)
    try await replica.catchUp()
    try await copy.write { try $0.rename(nix, to: "Ada") }
    try await replica.catchUp()
    let plain = try PlainConnection(fixture.folder + "/server.db")
    guard case .integer(let nonce)? = try plain.value("SELECT nonce FROM userstore_decisions") else {
      Issue.record("the server has decided nothing")
      return
    }
    await #expect(throws: StoreError.self) { try await fixture.server.write { try $0.outcome(of: nonce) } }
    // A replica keeps outcomes of its own, and sends its changes as before.
    try await copy.write { transaction in
      try transaction.keep("here", of: 1)
      try transaction.rename(nix, to: "Eve")
    }
    try await replica.catchUp()
    #expect(try await fixture.server.user(nix)?.name == "Eve")
    #expect(try await copy.write { try $0.outcome(of: 1) } == "here")
    #expect(try await fixture.server.write { try $0.outcome(of: 1) } == nil)
  }
}
