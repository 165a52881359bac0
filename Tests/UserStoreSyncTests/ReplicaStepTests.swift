import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// The steps of a replica one by one, with writes at the server between a question and its answer.
@Suite(.timeLimit(.minutes(2))) struct ReplicaStepTests {
  private let fixture: SyncFixture
  private let server: UserStore
  private let store: UserStore

  init() throws {
    fixture = try SyncFixture()
    (server, store) = (fixture.server, try fixture.open())
  }

  private func replica(_ users: UserStoreSync.Replica.Users) throws -> UserStoreSync.Replica {
    try UserStoreSync.Replica(of: store, from: DirectTransport(to: fixture.service), users: users, writes: .none)
  }

  /// The next step; begins a copy first if there is none.
  private func next() async throws -> ReplicaStep {
    if let step = try await store.read({ try ReplicaStep.next(in: &$0, wait: 0) }) { return step }
    try await store.write { try ReplicaStep.begin(in: &$0) }
    return try await next()
  }

  /// Lets the server answer now, with at most so many sets, and applies the answer.
  @discardableResult private func take(_ step: ReplicaStep, sets: Int = .max) async throws -> ReplicaOutcome {
    guard case .ask(let request) = step.action else { return try await store.write { try step.install(in: &$0) } }
    var limits = SyncService.Limits()
    limits.sets = sets
    let body = try await SyncService(server, limits).answer(request).body
    let answer = try await ReplicaAnswer(SyncResponse(status: 200, body: body), to: request)
    return try await store.write { try step.apply(answer, in: &$0) }
  }

  @Test func `a late answer about an earlier subset is dropped, also at the same cursor`() async throws {
    let ids = try await server.write { users in try (1...2).map { try users.add(name: "user \($0)") } }
    try await replica(.ids([ids[0]])).catchUp()
    let step = try #require(try await store.read { try ReplicaStep.next(in: &$0, wait: 0) })
    // The server does not write until the new copy is complete, so that its cursor is that of the question.
    let all = try replica(.all)
    try await all.catchUp()
    try await server.write { try $0.rename(ids[1], to: "renamed") }
    #expect(try await take(step).isLate)
    try await all.catchUp()
    #expect(try await store.user(ids[1])?.name == "renamed")
  }

  @Test func `a copy is installed only after the last part of a huge set`() async throws {
    let number = Attribute<Int>("number")
    let ids = try await server.write { users in try (1...2).map { try users.add(name: "user \($0)") } }
    _ = try replica(.ids([ids[0]]))
    try await take(next())
    // Hidden, so that the answer goes on behind the cursor of the page.
    try await server.write { try $0.rename(ids[1], to: "hidden") }
    try await take(next())
    try await server.write { users in for value in 1...2_500 { try users.set(number, of: ids[0], to: value) } }
    var steps: [ReplicaStep] = []
    while true {
      let step = try await next()
      if step.copy == nil { break }
      steps.append(step)
      try await take(step)
      #expect(try await store.value(number, of: ids[0]).map { $0 == 2_500 } ?? true)
    }
    // The parts of the set, and then the installation.
    #expect(steps.count > 2)
    #expect(try await store.value(number, of: ids[0]) == 2_500)
  }

  @Test func `a user that joins a subset behind the place of its copy is copied`() async throws {
    let away = User.ID(-5)
    let ids = try await server.write { users in
      _ = try users.add([(.name, .text("away"))], as: away)
      return try (1...2).map { try users.add(name: "user \($0)") }
    }
    let transport = DirectTransport(to: fixture.service)
    let all = try UserStoreSync.Replica(of: store, from: transport, users: .all, writes: .queued)
    try await all.catchUp()
    let some = try UserStoreSync.Replica(of: store, from: transport, users: .ids(ids), writes: .queued)
    // The state of the server, and the page of all users.
    for _ in 1...2 { try await take(next()) }
    // Until the copy is installed, the user is visible. The server refuses the color.
    try PlainConnection(fixture.folder + "/replica.db").script(
      "REPLACE INTO users (id, name, hair_color) VALUES (-5, 'here', 'BAD')")
    try await some.catchUp()
    #expect(try await store.user(away)?.name == "away")
    #expect(try await store.users() == server.users())
  }

  // MARK: Purges

  private static let number = Attribute<Int>("number")

  /// Sets a number, removes and purges the user, and returns the server's file of before the removal.
  private func purge(_ id: User.ID) async throws -> UserStore {
    try await server.write { try $0.set(Self.number, of: id, to: 7) }
    try PlainConnection(fixture.folder + "/server.db").run(
      "VACUUM INTO ?", [.text(Array("\(fixture.folder)/older.db".utf8))])
    try await server.write { try $0.remove(id) }
    try await server.purge(id)
    return try fixture.open("older")
  }

  /// Follows an older file, which takes the place of the server's.
  private func catchUp(with older: UserStore) async throws {
    try await older.write { _ = try $0.add(name: "later") }
    try await UserStoreSync.Replica(
      of: store, from: DirectTransport(to: try SyncService(older)), users: .all, writes: .none
    ).catchUp()
    #expect(try await store.users() == older.users())
  }

  @Test func `values that a purge had taken come back if the server loses the purge`() async throws {
    let id = try await server.write { try $0.add(name: "NIX") }
    try await replica(.all).catchUp()
    let older = try await purge(id)
    // The page ends before the purge, and lacks the value.
    try await take(next(), sets: 1)
    #expect(try await store.user(id) != nil)
    #expect(try await store.value(Self.number, of: id) == nil)
    try await catchUp(with: older)
  }

  @Test func `a copy ends only after a purge that has taken its values`() async throws {
    let id = try await server.write { try $0.add(name: "NIX") }
    _ = try replica(.all)
    try await take(next())
    try await server.write { try $0.rename(id, to: "renamed") }
    try await take(next())
    let older = try await purge(id)
    // Through the cursor of the users, and one set more, which lacks the value.
    try await take(next(), sets: 2)
    #expect(try await next().copy != nil)
    try await catchUp(with: older)
  }

  @Test func `a page whose values were purged is not taken if it was cut off`() async throws {
    let id = try await server.write { try $0.add(name: "NIX") }
    try await replica(.all).catchUp()
    _ = try await purge(id)
    let step = try await next()
    guard case .ask(let request) = step.action else { throw Wrong("a copy has begun") }
    let bytes = try await fixture.service.answer(request).body
    #expect(try ChangesPage(bytes).target != nil)
    // A user without a hair color is none that lacks a value.
    let cursor = try await server.read { try $0.cursor }
    try await server.write { _ = try $0.add(name: "Ann") }
    let added = try await fixture.service.answer(
      SyncRequest(.changes(after: cursor, part: nil, also: nil, wait: 0), users: nil)
    ).body
    #expect(try ChangesPage(added).sets.count == 1 && ChangesPage(added).target == nil)
    let end = try #require(bytes.dropLast().lastIndex(of: 0x0A))
    #expect(throws: SyncFailure.self) { try ChangesPage(Array(bytes[...end])) }
  }
}
