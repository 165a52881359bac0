import Foundation
import Synchronization
import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// A replica that the application writes to, as a program uses it.
@Suite(.timeLimit(.minutes(2))) struct OfflineWriteTests {
  private let fixture: SyncFixture
  private let server: UserStore
  private let nix: User.ID
  private static let age = Attribute<Int>("age")

  init() async throws {
    fixture = try SyncFixture()
    server = fixture.server
    nix = try await fixture.addNIX()
  }

  private func replica(
    of store: UserStore, users: UserStoreSync.Replica.Users = .all, through transport: (any SyncTransport)? = nil
  ) throws -> UserStoreSync.Replica {
    try UserStoreSync.Replica(
      of: store, from: transport ?? DirectTransport(to: fixture.service), users: users, writes: .queued)
  }

  /// A store with a replica that has copied.
  private func copied(
    _ name: String = "replica", users: UserStoreSync.Replica.Users = .all
  ) async throws -> (store: UserStore, replica: UserStoreSync.Replica) {
    let store = try fixture.open(name)
    let replica = try replica(of: store, users: users)
    try await replica.catchUp()
    return (store, replica)
  }

  /// All sets of a store.
  private func sets(_ store: UserStore) async throws -> [UserStore.ChangeSet] {
    let start = try await store.read { try $0.session.horizon() }
    let end = try await store.read { try $0.cursor }
    var sets: [UserStore.ChangeSet] = []
    for try await set in store.changeSets(after: start) {
      sets.append(set)
      if set.cursor == end { break }
    }
    return sets
  }

  private func code(_ body: () async throws -> Void) async throws -> StoreError.Code? {
    do { try await body() } catch let error as StoreError { return error.code }
    return nil
  }

  private func refusals(_ replica: UserStoreSync.Replica, _ count: Int) async throws -> [UserStoreSync.Replica.Refusal]
  {
    var found: [UserStoreSync.Replica.Refusal] = []
    for try await refusal in replica.refusals {
      found.append(refusal)
      if found.count == count { break }
    }
    return found
  }

  @Test func `a write reaches the server and another replica, with its origin and events`() async throws {
    let (first, sender) = try await copied("first")
    let (second, receiver) = try await copied("second")
    let running = [Task { try await sender.run() }, Task { try await receiver.run() }]
    let (sets, continuation) = AsyncStream<UserStore.ChangeSet>.makeStream()
    second.listeners.bind("test", to: .everything) { continuation.yield($0) }
    try await first.write(origin: "app") { [nix] users in
      try users.set(Self.age, of: nix, to: 8)
      try users.post("birthday", about: nix)
    }
    for await set in sets {
      #expect(set.isPulled)
      #expect(set.origin == "app")
      #expect(try set.changes.map(\.new) == [.integer(8)])
      #expect(try set.events.map(\.name) == ["birthday"])
      break
    }
    #expect(try await server.user(nix)?[Self.age] == 8)
    try await sender.flush()
    #expect(sender.pending.value == 0)
    // The own set comes back, and changes nothing here.
    #expect(try await self.sets(first).map(\.isPulled) == [true, false])
    for task in running { task.cancel() }
    for task in running { try await task.value }
  }

  @Test func `what is written before and while there is no network is sent in its order, once`() async throws {
    let store = try fixture.open()
    _ = try self.replica(of: store)
    let early = try await store.write { try $0.add(name: "before the first copy") }
    let replica = try self.replica(of: store)
    #expect(replica.pending.value == 1)
    try await replica.catchUp()
    for age in 1...3 { try await store.write { [nix] in try $0.set(Self.age, of: nix, to: age) } }
    try PlainConnection(fixture.folder + "/replica.db").run(
      "UPDATE users SET name = 'of another program' WHERE id = \(nix)")
    try await replica.catchUp()
    #expect(replica.pending.value == 0)
    #expect(try await server.user(early)?.name == "before the first copy")
    let changes = try await sets(server).flatMap { try $0.changes.map(\.new) }
    #expect(changes.suffix(4) == [.integer(1), .integer(2), .integer(3), .text("of another program")])
    #expect(try await server.users() == store.users())
  }

  @Test func `a refused set is taken back whole, and reported until it is acknowledged`() async throws {
    let (store, replica) = try await copied()
    try await server.write { [nix] in try $0.set(Self.age, of: nix, to: 70) }
    let own = try await store.write { [nix] users in
      try users.set(Self.age, of: nix, to: 8, expecting: 7)
      return try users.add(name: "with it")
    }
    #expect(try await store.user(nix)?[Self.age] == 8)
    try await replica.catchUp()
    #expect(try await store.user(nix)?[Self.age] == 70)
    #expect(try await store.user(own) == nil)
    #expect(try await server.user(own) == nil)
    let refusal = try #require(try await refusals(replica, 1).first)
    #expect(refusal.reason == .conflict)
    #expect(refusal.detail?.contains("is 70, not 7") == true)
    #expect(refusal.changes.map(\.attribute) == ["age", "name", "hair_color"])
    // As long as it is not acknowledged, the log keeps its rows, also in another process.
    try await store.compact(keeping: RetentionPolicy(.init(changes: 0), consumerLimits: .none))
    let other = try self.replica(of: store)
    #expect(try await refusals(other, 1).first?.changes.count == 3)
    try await refusal.acknowledge()
    let waiting = Task { try await refusals(other, 1).first?.reason }
    try await store.write { try $0.remove(nix) }
    try await server.write { try $0.remove(nix) }
    _ = try await server.write { [nix] in try $0.add([(.name, .text("again"))], as: nix) }
    try await store.write { [nix] in _ = try $0.add([(.name, .text("too late"))], as: nix) }
    try await other.catchUp()
    // Removed and added again here: the server has removed the one there, and takes this one.
    #expect(try await server.user(nix)?.name == "too late")
    try await store.write { [nix] in try $0.set(.hairColor, of: nix, to: .text("#ABCDEF")) }
    try PlainConnection(fixture.folder + "/replica.db").run("UPDATE users SET hair_color = 'no color'")
    try await other.catchUp()
    #expect(try await waiting.value == .invalid)
    #expect(try await server.user(nix)?.hairColor == store.user(nix)?.hairColor)
  }

  @Test func `a unique value of another user is refused by the server`() async throws {
    try await server.addUnique(on: "email")
    try await server.write { [nix] in try $0.set("email", of: nix, to: .text("a@example.com")) }
    let (store, replica) = try await copied()
    let own = try await store.write { try $0.add([(.name, .text("Zoë")), ("email", .text("a@example.com"))]) }
    #expect(own.rawValue < 0)
    try await replica.catchUp()
    #expect(try await refusals(replica, 1).first?.reason == .notUnique)
    #expect(try await store.user(own) == nil)
  }

  @Test func `more sets than the server decides in one transaction are decided in their order, but for refused ones`()
    async throws
  {
    let (store, replica) = try await copied()
    try await store.write { [nix] in try $0.set("number", of: nix, to: .integer(0)) }
    try await replica.catchUp()
    for number in 1...350 {
      try await store.write { [nix] users in
        // No other set changes the age, so these sets alone are refused.
        if number % 50 == 0 { try users.set(Self.age, of: nix, to: 8, expecting: 7) }
        try users.set("number", of: nix, to: .integer(Int64(number)))
        if number % 50 == 0 { try users.set(Self.age, of: nix, to: 7) }
      }
    }
    try await server.write { [nix] in try $0.set(Self.age, of: nix, to: 1) }
    try await replica.catchUp()
    let numbers = try await sets(server).flatMap { try $0.changes }.filter { $0.attribute == "number" }.map(\.new)
    let accepted: [Int64] = [0] + (1...350).filter { $0 % 50 != 0 }
    #expect(numbers == accepted.map { StoredValue.integer($0) })
    #expect(try await refusals(replica, 7).allSatisfy { $0.reason == .conflict })
    #expect(try await server.users() == store.users())
  }

  @Test func `a user whose removal at the server was not known is refused, and later sets are sent`() async throws {
    let (store, replica) = try await copied()
    try await server.write { [nix] in try $0.remove(nix) }
    try await store.write { [nix] in try $0.rename(nix, to: "gone") }
    let own = try await store.write { try $0.add(name: "new") }
    try await replica.catchUp()
    #expect(try await refusals(replica, 1).first?.reason == .userRemoved)
    #expect(try await server.users() == store.users())
    #expect(try await server.user(own)?.name == "new")
  }

  @Test func `ids that the server has not given are refused, and new users of a subset join it`() async throws {
    let (store, replica) = try await copied(users: .ids([nix]))
    for id in [User.ID(9), User.ID(0)] {
      let code = try await code { _ = try await store.write { try $0.add([(.name, .text("own"))], as: id) } }
      #expect(code == .badValue)
    }
    let own = try await store.write { try $0.add(name: "own") }
    try await replica.catchUp()
    // With the same ids as before, it does not copy.
    let again = try self.replica(of: store, users: .ids([nix]))
    #expect(again.state.value == .following(behind: 0))
    try await server.write { try $0.rename(own, to: "renamed at the server") }
    try await again.catchUp()
    #expect(try await store.user(own)?.name == "renamed at the server")
  }

  @Test func `undo without a revision undoes the newest write of the application, with expectations`() async throws {
    let (store, replica) = try await copied()
    try await store.write { [nix] in try $0.set(Self.age, of: nix, to: 8) }
    try await replica.catchUp()
    try await server.write { [nix] in try $0.rename(nix, to: "at the server") }
    try await replica.catchUp()
    try await server.write { [nix] in try $0.set(Self.age, of: nix, to: 9) }
    try await store.write { _ = try $0.undo() }
    #expect(try await store.user(nix)?[Self.age] == 7)
    #expect(try await store.user(nix)?.name == "at the server")
    try await replica.catchUp()
    #expect(try await refusals(replica, 1).first?.reason == .conflict)
    #expect(try await store.user(nix)?[Self.age] == 9)
  }

  @Test func `a user about whom something is undecided cannot be purged`() async throws {
    let (store, replica) = try await copied()
    try await store.write { [nix] in try $0.remove(nix) }
    #expect(try await code { _ = try await store.purge(nix) } == .stillReferenced)
    try await replica.catchUp()
    _ = try await store.purge(nix)
  }

  @Test func `the log keeps what was not sent`() async throws {
    let (store, replica) = try await copied()
    for age in 0..<50 { try await store.write { [nix] in try $0.set(Self.age, of: nix, to: age) } }
    try await store.compact(keeping: RetentionPolicy(.init(changes: 1), consumerLimits: .none))
    try await replica.catchUp()
    #expect(try await server.user(nix)?[Self.age] == 49)
    try await store.compact(keeping: RetentionPolicy(.init(changes: 1), consumerLimits: .none))
    #expect(try await store.read { try $0.session.logState(at: 0, of: nil).horizon } > 50)
  }

  @Test func `signing out refuses writes, and keeps, sends or gives up what is undecided`() async throws {
    let (store, replica) = try await copied()
    func write(_ age: Int) async throws {
      try await store.write { [nix] in try $0.set(Self.age, of: nix, to: age) }
    }
    try await write(8)
    try await replica.signOut(pending: .keep)
    #expect(try await code { try await write(9) } == .readOnlyReplica)
    #expect(replica.pending.value == 1)
    #expect(try await store.user(nix)?[Self.age] == 8)

    let again = try self.replica(of: store)
    try await write(9)
    try await again.signOut(pending: .discard)
    #expect(again.pending.value == 0)
    #expect(try await store.user(nix)?[Self.age] == 7)

    let third = try self.replica(of: store)
    let running = Task { try await third.run() }
    try await write(10)
    try await third.signOut(pending: .send)
    #expect(try await server.user(nix)?[Self.age] == 10)
    running.cancel()
    try await running.value
  }

  @Test func `nothing is sent for another person`() async throws {
    let (store, _) = try await copied()
    try await store.write { [nix] in try $0.set(Self.age, of: nix, to: 8) }
    let replica = try self.replica(of: store, through: SubjectTransport(service: fixture.service, subject: "another"))
    await #expect(throws: UserStoreSync.Replica.Problem.anotherSubject) { try await replica.catchUp() }
    #expect(replica.state.value == .refused(.anotherSubject))
    #expect(try await server.user(nix)?[Self.age] == 7)
    #expect(replica.pending.value == 1)
  }

  @Test func `what is too large for the server is refused alone`() async throws {
    let (store, _) = try await copied()
    let replica = try self.replica(
      of: store, through: LimitedTransport(direct: DirectTransport(to: fixture.service), limit: 2_000))
    for name in ["small", "large", "last"] {
      try await store.write { [nix] users in
        try users.set(
          AttributeName(name), of: nix, to: .text(String(repeating: "x", count: name == "large" ? 3_000 : 900)))
      }
    }
    try await replica.catchUp()
    #expect(try await refusals(replica, 1).first?.reason == .tooLarge)
    #expect(try await server.user(nix)?.storedValues.keys.sorted() == ["age", "last", "name", "small"])
    #expect(try await server.users() == store.users())
  }

  @Test func `a server that takes no changes is followed, and the reason is shown`() async throws {
    let (store, _) = try await copied()
    let transport = ClosedTransport(direct: DirectTransport(to: fixture.service))
    let replica = try self.replica(of: store, through: transport)
    let (states, continuation) = AsyncStream<UserStoreSync.Replica.State>.makeStream()
    replica.state.bind("test") { continuation.yield($0) }
    let running = Task { try await replica.run() }
    try await store.write { [nix] in try $0.set(Self.age, of: nix, to: 8) }
    for await state in states {
      if case .waiting(let reason, _) = state {
        #expect(reason.contains("503"), "\(reason)")
        break
      }
    }
    try await server.write { [nix] in try $0.rename(nix, to: "meanwhile") }
    try await replica.caughtUp(to: server.read { try $0.cursor })
    #expect(try await store.user(nix)?.name == "meanwhile")
    if case .waiting = replica.state.value {} else { Issue.record("\(replica.state.value)") }
    transport.open()
    try await replica.flush()
    #expect(try await server.user(nix)?[Self.age] == 8)
    running.cancel()
    try await running.value
  }

  @Test func `changes that are missing from the log stop the replica until they are given up`() async throws {
    let (store, replica) = try await copied()
    try await store.write { [nix] in try $0.set(Self.age, of: nix, to: 8) }
    let plain = try PlainConnection(fixture.folder + "/replica.db")
    try plain.run("UPDATE userstore_replica SET seen_nonce = seen_nonce + 1")
    await #expect(throws: UserStoreSync.Replica.Problem.self) { try await replica.catchUp() }
    if case .refused(.damaged) = replica.state.value {} else { Issue.record("\(replica.state.value)") }
    try await replica.signOut(pending: .discard)
    let again = try self.replica(of: store)
    try await again.catchUp()
    #expect(try await store.user(nix)?[Self.age] == 7)
    #expect(try await server.users() == store.users())
  }

  @Test func `a copied file sends its own changes under another name`() async throws {
    let (store, replica) = try await copied()
    try await store.write { [nix] in try $0.set(Self.age, of: nix, to: 8) }
    try await store.backup(to: fixture.folder + "/copy.db")
    let copy = try fixture.open("copy")
    for (store, name) in [(store, "one"), (copy, "two")] {
      try await store.write { [nix] in try $0.set(AttributeName(name), of: nix, to: .integer(1)) }
    }
    try await replica.catchUp()
    let other = try self.replica(of: copy)
    try await other.catchUp()
    try await replica.catchUp()
    let record = try await server.user(nix)?.storedValues
    #expect(record?["age"] == .integer(8) && record?["one"] == .integer(1) && record?["two"] == .integer(1))
    #expect(try await store.users() == copy.users())
    // Once: what both files had was applied once.
    #expect(try await sets(server).flatMap { try $0.changes }.count { $0.attribute == "age" } == 2)
  }

  @Test func `what a copied file has sent is known also when the log and other decisions are forgotten`() async throws {
    let (first, replica) = try await copied()
    try await first.backup(to: fixture.folder + "/copy.db")
    let copy = try fixture.open("copy")
    try await copy.write { [nix] in try $0.set(Self.age, of: nix, to: 8) }
    try await copy.backup(to: fixture.folder + "/late.db")
    // The number of the copy's set is taken, so that each copy sends it under a name of its own.
    try await first.write { [nix] in try $0.set("first", of: nix, to: .integer(1)) }
    try await replica.catchUp()
    let other = try self.replica(of: copy)
    try await other.catchUp()
    try await server.write { [nix] in try $0.set(Self.age, of: nix, to: 9) }
    for number in 1...3 {
      // What is forgotten is older than the log.
      let decided = WallClock.milliseconds
      while WallClock.milliseconds == decided { await Task.yield() }
      try await copy.write { [nix] in try $0.set("later", of: nix, to: .integer(Int64(number))) }
      try await other.catchUp()
      try await server.compact(keeping: RetentionPolicy(.init(changes: 1), consumerLimits: .none))
    }
    let late = try fixture.open("late")
    try await self.replica(of: late).catchUp()
    #expect(try await server.user(nix)?[Self.age] == 9)
    #expect(try await late.users() == server.users())
    let plain = try PlainConnection(fixture.folder + "/server.db")
    #expect(try plain.value("SELECT count(*) FROM userstore_decisions WHERE number = 0") == 1)
    #expect(try plain.value("SELECT forgotten FROM userstore_producers") == 1, "later ones are forgotten")
  }

  private func writeRandomly(_ store: UserStore, _ random: inout SplitMix64) throws {
    func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    try store.write { users in
      let ids = try users.users().map(\.id)
      guard let id = ids.randomElement(using: &random) else {
        _ = try users.add(name: "own")
        return
      }
      switch below(10) {
      case 0: _ = try users.add(name: "own", hairColor: UserStore.Color("auburn"))
      case 1: try users.remove(id)
      case 2: try users.rename(id, to: "\(below(9))")
      case 3: if try users.user(nix) == nil { _ = try users.add([(.name, .text("again"))], as: nix) }
      default:
        try users.set(AttributeName("a\(below(4))"), of: id, to: random.oneIn(4) ? .null : .integer(Int64(below(3))))
      }
    }
  }

  @Test func `what the replica computes by attribute is what all rows give in their order`() async throws {
    var random = SplitMix64(seed: Seed.base)
    let (store, _) = try await copied()
    for _ in 0..<300 { try writeRandomly(store, &random) }
    try await store.write { transaction in
      try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in
        for user in try own.outbox.touchedUsers() {
          let visible = try own.session.user(User.ID(user))?.storedValues.filter { !$0.value.isNull }
          #expect(try own.outbox.record(of: user) == visible, "user \(user)")
        }
      }
    }
  }
}

/// A transport of somebody whom the server knows by a name.
private struct SubjectTransport: SyncTransport {
  let service: SyncService
  let subject: String
  let address = "https://users.example.com"

  func send(_ request: SyncRequest) async throws -> SyncResponse {
    do {
      let access = SyncService.Access(subject: subject)
      return SyncResponse(status: 200, body: try await service.answer(request, for: access).body)
    } catch let error as StoreError { return SyncResponse(error) }
  }
}

/// A transport through a proxy that accepts only small bodies.
private struct LimitedTransport: SyncTransport {
  let direct: DirectTransport
  let limit: Int
  var address: String { direct.address }

  func send(_ request: SyncRequest) async throws -> SyncResponse {
    if request.body?.count ?? 0 > limit { return SyncResponse(status: 413, body: Array("too large".utf8)) }
    return try await direct.send(request)
  }
}

/// A transport to a server that takes no changes until it is opened.
private final class ClosedTransport: SyncTransport {
  private let direct: DirectTransport
  private let isOpen = Mutex(false)
  var address: String { direct.address }

  init(direct: DirectTransport) { self.direct = direct }

  func open() { isOpen.withLock { $0 = true } }

  func send(_ request: SyncRequest) async throws -> SyncResponse {
    if request.isPush, !isOpen.withLock({ $0 }) { return SyncResponse(status: 503, body: []) }
    return try await direct.send(request)
  }
}
