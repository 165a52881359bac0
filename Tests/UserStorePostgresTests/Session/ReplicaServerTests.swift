import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres
@testable import UserStoreSync

extension AllTests {
  /// Replicas of a database on a server.
  @Suite(.timeLimit(.minutes(5)))
  struct ReplicaServerTests {
    private let address: String
    private let server: UserStore
    private let copy: UserStore
    private let replica: UserStoreSync.Replica

    init() throws {
      address = Server.address(try Server.newDatabase())
      server = try UserStore(postgres: PostgresConfiguration(address))
      copy = try UserStore.temporary()
      replica = try UserStoreSync.Replica(of: copy, from: DirectTransport(to: SyncService(server)), writes: .none)
    }

    private func execute(_ sql: String) throws {
      try PostgresConnection(PostgresSettings(address)).execute(sql, to: "write as another program")
    }

    private func requireEqual() async throws {
      try await replica.catchUp()
      let users = try await server.users()
      #expect(try await copy.users() == users)
      #expect(try await copy.check().filter { $0.severity == .problem && $0.kind != .value }.isEmpty)
    }

    @Test func `it has what the library and other programs write`() async throws {
      try await server.write { users in
        for number in 0..<5 {
          _ = try users.add([(.name, .text("n\(number)")), ("age", .integer(.min)), ("real", .real(.infinity))])
        }
      }
      try await requireEqual()
      try execute(
        """
        BEGIN;
        INSERT INTO userstore.attributes (user_id, name, raw) VALUES (1, 'raw', '\\xff');
        UPDATE userstore.users SET name = 'é' WHERE id = 2;
        DELETE FROM userstore.users WHERE id = 3;
        SELECT userstore.post('seen', 'it', about => 1);
        COMMIT;
        INSERT INTO userstore.attributes (user_id, name, bytes) VALUES (4, 'photo', '\\x00ff')
        """)
      try await requireEqual()
      let consumer = try await copy.consumer("test", from: .oldest, of: [.event("seen")])
      for try await set in consumer {
        #expect(set.isPulled)
        #expect(try set.events.map(\.payload) == [.text("it")])
        break
      }
    }

    @Test func `a huge set comes in parts, in a copy, too`() async throws {
      try await server.write { users in for number in 0..<1_200 { _ = try users.add(name: "n\(number)") } }
      try await requireEqual()
      try await server.write(origin: "huge") { users in
        for id in try users.users().map(\.id) { try users.set(AttributeName("age"), of: id, to: .integer(id.rawValue)) }
      }
      try await requireEqual()
      // Between the pages of a copy.
      let other = try UserStore.temporary()
      let service = try SyncService(server)
      let second = try UserStoreSync.Replica(of: other, from: DirectTransport(to: service), writes: .none)
      for round in 0..<40 {
        let next = try await other.read { try ReplicaStep.next(in: &$0, wait: 0) }
        guard let step = next, case .ask(let request) = step.action else { break }
        let answer = try await ReplicaAnswer(DirectTransport(to: service).send(request), to: request)
        try await other.write { transaction in _ = try step.apply(answer, in: &transaction) }
        if round == 1 {
          try await server.write { users in
            for id in try users.users().map(\.id) { try users.set(AttributeName("age"), of: id, to: .integer(-1)) }
          }
        }
      }
      try await second.catchUp()
      #expect(try await other.users() == server.users())
    }

    @Test func `a purge reaches it, also in a copy`() async throws {
      let ids = try await server.write { users in try (0..<2).map { try users.add(name: "secret\($0)") } }
      try await requireEqual()
      try await server.write { users in for id in ids { try users.remove(id) } }
      try await requireEqual()
      try await server.purge(ids[0])
      try await requireEqual()
      let values = try await copy.page(after: nil).flatMap { try $0.changes }.filter {
        $0.user == ids[0] && $0.attribute == .name
      }
      #expect(!values.isEmpty && values.allSatisfy(\.isPurged))
      let identity = try await server.read { try $0.session.server()?.identity }
      #expect(identity != nil)
      #expect(try await server.read { try $0.session.server()?.purged } == [ids[0].rawValue])
    }

    @Test func `a role that may only read serves replicas`() async throws {
      try await server.write { _ = try $0.add(name: "NIX") }
      let role = "r\(UInt64.random(in: 0 ... .max))"
      try execute("CREATE ROLE \(role); SELECT userstore.set_rights('\(role)', 'read')")
      defer { try? execute("DROP OWNED BY \(role); DROP ROLE \(role)") }
      var configuration = PostgresConfiguration(address + " options='-c role=\(role)'")
      configuration.store.access = .readOnly
      let reader = try UserStore(postgres: configuration)
      let other = try UserStore.temporary()
      try await UserStoreSync.Replica(of: other, from: DirectTransport(to: SyncService(reader)), writes: .none)
        .catchUp()
      #expect(try await other.count() == 1)
    }
  }
}
