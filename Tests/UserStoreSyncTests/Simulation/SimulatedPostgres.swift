import Foundation
import TestSupport
import UserStore
import UserStorePostgres

/// A database of the cluster that `scripts/postgres run` has started.
struct SimulatedPostgres: SimulatedDatabase {
  private let name: String
  private let administrator: PlainPostgres

  /// How the cluster is reached; nil if there is none.
  static let cluster = ProcessInfo.processInfo.environment["USERSTORE_POSTGRES"]

  private static func address(_ database: String) -> String { "\(cluster ?? "") dbname=\(database)" }

  /// The tables as a file has them.
  private static let views = """
    CREATE SCHEMA judge;
    CREATE FUNCTION judge.value(i bigint, r float8, t text, b bytea, x bytea) RETURNS bytea LANGUAGE sql
      RETURN CASE WHEN i IS NOT NULL THEN convert_to('i' || i, 'UTF8') WHEN r IS NOT NULL THEN convert_to('r' || r, 'UTF8')
        WHEN t IS NOT NULL THEN convert_to('t' || t, 'UTF8') WHEN b IS NOT NULL THEN 'b'::bytea || b
        WHEN x IS NOT NULL THEN 't'::bytea || x END;
    CREATE VIEW judge.changes AS
      SELECT seq, op, "user", attribute, judge.value(old_i, old_r, old_t, old_b, old_x) AS old,
        judge.value(new_i, new_r, new_t, new_b, new_x) AS new, coalesce(nonce, 0) AS nonce FROM userstore.log;
    CREATE VIEW judge.attributes AS SELECT user_id, name, judge.value(integer, real, text, bytes, raw) AS value FROM userstore.attributes;
    CREATE VIEW judge.userstore_decisions AS SELECT * FROM userstore.decisions;
    """

  /// A database with the schema, of which the others are copies.
  private static let template: Result<String, any Error> = Result {
    let name = "histories"
    try PlainPostgres(address("postgres")).script("CREATE DATABASE \(name)")
    try UserStore(postgres: PostgresConfiguration(address(name))).close()
    try PlainPostgres(address(name)).script(views)
    return name
  }

  init() throws {
    name = "history\(UInt32.random(in: 0 ... .max))"
    let template = try Self.template.get()
    administrator = try PlainPostgres(Self.address("postgres"))
    try administrator.script("CREATE DATABASE \(name) TEMPLATE \(template)")
  }

  func open() throws -> UserStore {
    try UserStore(postgres: PostgresConfiguration(Self.address(name), SimulatedServer.configuration))
  }

  func connect() throws -> any PlainSQL { try PlainPostgres(Self.address(name)) }

  func backUp(_ server: SimulatedServer, as number: Int) throws {
    try server.whileClosed { try copy(name, to: "\(name)_\(number)") }
  }

  func restore(_ server: SimulatedServer, from number: Int, asFile: Bool) throws {
    try server.whileClosed {
      try copy("\(name)_\(number)", to: name)
      if !asFile { try PlainPostgres(Self.address(name)).script("SELECT userstore.renew()") }
    }
  }

  /// Copies a database that nobody is connected to; the server may still end the connections that were closed.
  private func copy(_ source: String, to target: String) throws {
    try administrator.script("DROP DATABASE IF EXISTS \(target) WITH (FORCE)")
    try administrator.script("CREATE DATABASE \(target) TEMPLATE \(source)")
  }

  func foreignStatements(_ kind: Int, of user: Int64, number: Int) -> [String] {
    let put = "INSERT INTO userstore.attributes (user_id, name, raw) VALUES (\(user), 'a', '\\xc3')"
    let statements = [
      ["UPDATE userstore.users SET name = 'foreign\(number)' WHERE id = \(user)"],
      [
        "DELETE FROM userstore.users WHERE id = \(user)",
        "INSERT INTO userstore.users (id, name) VALUES (\(user), 'replaced')",
      ],
      ["DELETE FROM userstore.attributes WHERE user_id = \(user) AND name = 'a'", put],
      ["UPDATE userstore.attributes SET text = text || 'x' WHERE user_id = \(user) AND text IS NOT NULL"],
      ["DELETE FROM userstore.attributes WHERE user_id = \(user)"],
      ["DELETE FROM userstore.users WHERE id = \(user)"],
    ]
    return statements[kind] + ["UPDATE userstore.users SET hair_color = '#00000' || abs(id % 10)"]
  }

  func remove() {
    for database in (try? administrator.run("SELECT datname::text FROM pg_database WHERE datname LIKE '\(name)%'"))
      ?? []
    {
      guard let database = database[0].utf8.map({ String(decoding: $0, as: UTF8.self) }) else { continue }
      try? administrator.script("DROP DATABASE \(database) WITH (FORCE)")
    }
  }
}
