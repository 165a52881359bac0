import Foundation
import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// What a replica's file says without a way to its server, and what can be done with it then.
@Suite(.timeLimit(.minutes(2))) struct ReplicaStatusTests {
  private typealias Replica = UserStoreSync.Replica

  private let fixture: SyncFixture
  private let server: UserStore
  private let nix: User.ID
  private static let age = Attribute<Int>("age")

  init() async throws {
    fixture = try SyncFixture()
    server = fixture.server
    nix = try await fixture.addNIX()
  }

  private func replica(of store: UserStore, _ users: Replica.Users = .all, writes: Replica.Writes) throws -> Replica {
    try Replica(of: store, from: DirectTransport(to: fixture.service), users: users, writes: writes)
  }

  private func status(of store: UserStore) async throws -> Replica.Status {
    try #require(try await Replica.status(of: store))
  }

  private func set(_ age: Int, in store: UserStore) async throws {
    try await store.write { [nix] in try $0.set(Self.age, of: nix, to: age) }
  }

  private func code(_ body: () async throws -> Void) async throws -> StoreError.Code? {
    do { try await body() } catch let error as StoreError { return error.code }
    return nil
  }

  @Test func `a status says how far the replica is, and what it may do`() async throws {
    let store = try fixture.open()
    _ = try replica(of: store, writes: .none)
    let first = try await status(of: store)
    #expect(first.isCopying && first.cursor == nil && !first.takesWrites && first.users == .all)
    #expect(first.address == "the same process" && first.subject == "")
    let some = try replica(of: store, .ids([nix, User.ID(7)]), writes: .queued)
    try await some.catchUp()
    let second = try await status(of: store)
    #expect(!second.isCopying && second.takesWrites && second.users == .ids([nix, User.ID(7)]))
    #expect(try await second.cursor == server.read { try $0.cursor })
    #expect((second.pending, second.refusals) == (0, 0) && second.oldestPending == nil)
  }

  @Test func `sets that nobody has taken in count too, and reading the status takes none in`() async throws {
    let store = try fixture.open()
    let replica = try replica(of: store, writes: .queued)
    try await replica.catchUp()
    let own = try await store.write { [nix] users in
      try users.post("only an event")
      return try users.user(nix)?.id
    }
    #expect(own == nix)
    try await set(8, in: store)
    let plain = try PlainConnection(fixture.folder + "/replica.db")
    try plain.run("UPDATE users SET name = 'of another program'")
    try await set(9, in: store)
    let row = "SELECT taken FROM userstore_replica"
    let taken = try plain.value(row)
    var configuration = SimulatedServer.configuration
    configuration.access = .readOnly
    let reading = try UserStore(path: fixture.folder + "/replica.db", configuration: configuration)
    let found = try await status(of: reading)
    #expect(found.pending == 4)
    #expect(try plain.value(row) == taken)
    let start = try await store.read { try $0.oldestCursor }
    let first = try await store.changeSets(after: start).first { !$0.isPulled }
    #expect(try found.oldestPending == first?.events.first?.timestamp)
    // Sent without an answer, they are still not decided; decided, they are gone.
    try await replica.takeIn()
    #expect(try await status(of: reading).pending == 4)
    #expect(try await status(of: reading).oldestPending == found.oldestPending)
    try await replica.catchUp()
    #expect(try await status(of: reading).pending == 0)
    #expect(try await server.user(nix)?[Self.age] == 9)
  }

  @Test func `what gets around a replica that takes no writes is not to be sent`() async throws {
    let store = try fixture.open()
    try await replica(of: store, writes: .none).catchUp()
    let plain = try PlainConnection(fixture.folder + "/replica.db")
    try plain.run("DROP TRIGGER userstore_replica_update")
    try plain.run("UPDATE users SET name = 'of another program'")
    #expect(try await status(of: store).pending == 0)
  }

  @Test func `refusals are listed and acknowledged without a server`() async throws {
    let store = try fixture.open()
    let replica = try replica(of: store, writes: .queued)
    try await replica.catchUp()
    for age in [70, 71] {
      try await server.write { [nix] in try $0.set(Self.age, of: nix, to: age) }
      try await store.write { [nix] in try $0.set(Self.age, of: nix, to: 8, expecting: age == 70 ? 7 : 70) }
      try await replica.catchUp()
    }
    #expect(try await status(of: store).refusals == 2)
    let refusals = try await Replica.refusals(of: store)
    #expect(refusals.map(\.reason) == [.conflict, .conflict])
    #expect(refusals.map { $0.changes.map(\.new) } == [[.integer(8)], [.integer(8)]])
    #expect(refusals[0].revision < refusals[1].revision)
    try await refusals[0].acknowledge()
    #expect(try await Replica.refusals(of: store).map(\.revision) == [refusals[1].revision])
    #expect(try await status(of: store).refusals == 1)
  }

  @Test func `what is not decided is given up, and the application goes on`() async throws {
    let store = try fixture.open()
    let replica = try replica(of: store, writes: .queued)
    try await replica.catchUp()
    try await set(8, in: store)
    try await replica.takeIn()
    try await set(9, in: store)
    #expect(try await Replica.discardPending(of: store) == 2)
    #expect(try await store.user(nix)?[Self.age] == 7)
    #expect(try await Replica.discardPending(of: store) == 0)
    try await set(10, in: store)
    #expect(try await status(of: store).pending == 1)
    try await replica.catchUp()
    #expect(try await server.user(nix)?[Self.age] == 10)
  }

  @Test func `a file that lacks what is to be sent has a status, and is given up`() async throws {
    let store = try fixture.open()
    let replica = try replica(of: store, writes: .queued)
    try await replica.catchUp()
    try await set(8, in: store)
    let plain = try PlainConnection(fixture.folder + "/replica.db")
    try plain.run("UPDATE userstore_replica SET seen_nonce = seen_nonce + 1")
    #expect(try await status(of: store).pending == 1)
    await #expect(throws: Replica.Problem.damaged(Outbox.damaged.message)) { try await replica.catchUp() }
    try await Replica.discardPending(of: store)
    #expect(try await status(of: store).isCopying)
    try await replica.catchUp()
    #expect(try await store.user(nix)?[Self.age] == 7)
  }

  @Test func `another file is no replica, and one of an earlier version has to follow first`() async throws {
    #expect(try await Replica.status(of: server) == nil)
    #expect(try await Replica.refusals(of: server).isEmpty)
    #expect(try await Replica.discardPending(of: server) == 0)
    let golden = URL(filePath: #filePath).appending(path: "../../Golden/layout8-replica.db").standardized.path
    try SimulatedFile.copy(golden, to: fixture.folder + "/old.db")
    let old = try fixture.open("old")
    #expect(try await code { _ = try await Replica.status(of: old) } == .schemaTooOld)
    #expect(try await code { _ = try await Replica.refusals(of: old) } == .schemaTooOld)
    #expect(try await code { _ = try await Replica.discardPending(of: old) } == .schemaTooOld)
  }

  @Test func `a check finds what can no longer be sent, and what is kept for long`() async throws {
    let store = try fixture.open()
    let replica = try replica(of: store, writes: .queued)
    try await replica.catchUp()
    try await set(8, in: store)
    _ = try await replica.takeIn()
    #expect(try await store.check() == [])
    let plain = try PlainConnection(fixture.folder + "/replica.db", busyTimeout: 10_000)
    func finding() async throws -> String? {
      let findings = try await store.check()
      #expect(findings.count == 1)
      return findings.first.map { "\($0.severity.rawValue) \($0.kind.rawValue): \($0.message)" }
    }
    try plain.run("UPDATE changes SET at = 0 WHERE seq = (SELECT min(first) FROM userstore_outbox)")
    #expect(
      try await finding()
        == "warning log: the log is kept since 1970-01-01T00:00:00.000Z for writes that the server has not decided (1) and refusals that nobody has acknowledged (0)"
    )
    try plain.run(
      "UPDATE changes SET at = \(WallClock.milliseconds) WHERE seq = (SELECT min(first) FROM userstore_outbox)")
    try plain.run("UPDATE userstore_outbox SET nonce = nonce + 1")
    #expect(try await finding()?.hasPrefix("problem log: the log lacks changes through revision ") == true)
    try plain.run("UPDATE userstore_outbox SET nonce = nonce - 1")
    try plain.run("UPDATE userstore_replica SET seen_nonce = seen_nonce + 1")
    #expect(try await finding()?.contains("that are to be sent to the server; discard what was not sent") == true)
    // What has nothing to send copies again.
    try await Replica.discardPending(of: store)
    #expect(try await store.check() == [])
  }
}
