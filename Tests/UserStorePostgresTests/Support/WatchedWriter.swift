@testable import UserStore
@testable import UserStorePostgres

/// A store that writes to a database, and another one that watches it.
struct WatchedWriter {
  let writer: UserStore
  let watching: UserStore
  let user: User.ID
  /// The ages of the user that the watching store delivers.
  let received = Inbox<Int64>()

  /// Opens both; `change` changes the settings of the store that watches.
  init(_ database: String, _ change: (inout PostgresConfiguration) -> Void) throws {
    var configuration = PostgresConfiguration(Server.address(database))
    configuration.store.watchesOtherProcesses = false
    writer = try UserStore(postgres: configuration)
    configuration.store.watchesOtherProcesses = true
    change(&configuration)
    watching = try UserStore(postgres: configuration)
    user = try writer.write { try $0.add(name: "Ann") }
    watching.listeners.bind("values", to: .attribute(Attribute<Int64>("age"), of: user)) { [received] set in
      for change in try set.changes { if case .integer(let value) = change.new { received.append(value) } }
    }
  }

  func write(_ value: Int64) throws {
    try writer.write { try $0.set(AttributeName("age"), of: user, to: .integer(value)) }
  }
}
