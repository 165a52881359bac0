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

  /// Lets the server answer now, and applies the answer.
  @discardableResult private func take(_ step: ReplicaStep) async throws -> ReplicaOutcome {
    guard case .ask(let request) = step.action else { return try await store.write { try step.install(in: &$0) } }
    let body = try await fixture.service.answer(request, for: .all).body
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
}
