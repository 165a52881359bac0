import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Stores behind PgBouncer.
  @Suite(.timeLimit(.minutes(5)))
  struct PoolerTests {
    let database: String

    init() throws { database = try Server.newDatabase() }

    /// The address of the database through a PgBouncer of its own, which `scripts/postgres run` ends.
    private func pool(_ mode: String) throws -> String {
      let folder = Server.folder + "/pool-" + mode
      if !FileManager.default.fileExists(atPath: folder) { try Server.cluster("pooler", Server.folder, folder, mode) }
      return "host=\(folder) port=\(Server.port) user=postgres dbname=\(database)"
    }

    @Test func `a store works in session mode`() throws {
      var configuration = PostgresConfiguration(try pool("session"))
      // Only notifications make it look.
      configuration.idleLook = .seconds(100_000)
      let store = try UserStore(postgres: configuration)
      defer { store.close() }
      let user = try store.write { try $0.add(name: "Ann") }
      let values = Inbox<StoredValue>()
      store.listeners.bind("values", to: .attribute(Attribute<Int64>("age"), of: user)) { set in
        for change in try set.changes { values.append(change.new) }
      }
      let other = try UserStore(postgres: PostgresConfiguration(Server.address(database)))
      defer { other.close() }
      for value in 1...50 as ClosedRange<Int64> {
        try other.write { try $0.set(AttributeName("age"), of: user, to: .integer(value)) }
        values.awaitNext()
      }
      #expect(values.all == (1...50).map { .integer($0) })
    }

    @Test(arguments: [UserStore.Configuration.Access.createIfMissing, .readWrite, .readOnly])
    func `transaction mode is refused`(_ access: UserStore.Configuration.Access) throws {
      var configuration = PostgresConfiguration(try pool("transaction"))
      configuration.store.access = access
      for _ in 0..<20 {
        do throws(StoreError) {
          _ = try UserStore(postgres: configuration)
          Issue.record("it was opened")
        } catch {
          #expect(error.code == .unsupported)
          #expect(error.message.contains("a pool in session mode"))
        }
      }
    }

    @Test func `statement mode is refused`() throws {
      let configuration = PostgresConfiguration(try pool("statement"))
      do throws(StoreError) {
        _ = try UserStore(postgres: configuration)
        Issue.record("it was opened")
      } catch { #expect(error.code == .unsupported, "\(error)") }
    }

    @Test func `a server without a pooler is not asked for one`() throws {
      let connections = PostgresConnections(PostgresSettings(Server.string))
      let connection = try connections.open()
      let trips = connection.roundTrips
      try connections.checkPooler(of: connection)
      #expect(!connection.isPooled && connection.roundTrips == trips)
    }
  }
}
