import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

/// The engine on which the tests of the store run: SQLite, or with $USERSTORE_ENGINE=postgres the cluster of
/// `scripts/postgres run`.
enum TestEngine {
  static let postgres: String? = {
    let environment = ProcessInfo.processInfo.environment
    return environment["USERSTORE_ENGINE"] == "postgres" ? environment["USERSTORE_POSTGRES"] : nil
  }()
  static var isPostgres: Bool { postgres != nil }

  /// Databases that were created, and the connection that creates them.
  private static let server = Lock<(connection: PostgresConnection?, databases: Set<String>)>((nil, []))
  private static let template = "userstore_template"

  /// Opens a store in a database, which is created if it is new.
  static func store(in database: String, _ configuration: Configuration) throws -> UserStore {
    var postgres = PostgresConfiguration("\(postgres ?? "") dbname=\(database)")
    postgres.store = configuration
    try create(database)
    return try UserStore(postgres: postgres)
  }

  private static func create(_ database: String) throws {
    try server.withLock { server in
      if server.databases.contains(database) { return }
      if server.connection == nil {
        let connection = try PostgresConnection(PostgresSettings("\(postgres ?? "") dbname=postgres"))
        try? connection.execute("CREATE DATABASE \(template)", to: "create the template")
        try UserStore(postgres: PostgresConfiguration("\(postgres ?? "") dbname=\(template)")).close()
        server.connection = connection
      }
      try server.connection?.execute("CREATE DATABASE \(database) TEMPLATE \(template)", to: "create a database")
      server.databases.insert(database)
    }
  }
}

extension UserStore {
  /// A new store that no other process uses.
  static func forTests(configuration: Configuration = Configuration()) throws -> UserStore {
    guard TestEngine.isPostgres else { return try .inMemory(configuration: configuration) }
    return try TestEngine.store(in: "t\(UInt64.random(in: 0 ... .max))", configuration)
  }
}

extension Trait where Self == ConditionTrait {
  /// Of a test that writes to the file with other programs, or needs what only SQLite has.
  static var sqlite: Self { .disabled(if: TestEngine.isPostgres, "the test is for SQLite") }
}
