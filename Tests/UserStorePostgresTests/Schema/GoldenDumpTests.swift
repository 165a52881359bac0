import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Dumps of databases that the last version of each layout created (`Tests/Golden/make-postgres`), with a cursor that it saved.
  @Suite(.timeLimit(.minutes(5)))
  struct GoldenDumpTests {
    private static let layouts = PostgresSchema.oldest...PostgresSchema.latest
    private static let golden = URL(filePath: #filePath).appending(path: "../../../Golden").standardized

    private let database: String
    private var configuration: PostgresConfiguration { PostgresConfiguration(Server.address(database)) }

    init() throws { database = try Server.newDatabase() }

    /// Restores a dump, and returns the cursor that was saved with it.
    private func restore(_ layout: Int64) throws -> Cursor {
      let file = Self.golden.appending(path: "postgres\(layout)")
      try Server.restore(file.appendingPathExtension("sql"), into: database)
      return try Cursor(String(contentsOf: file.appendingPathExtension("cursor"), encoding: .utf8))
    }

    private func connect() throws -> PostgresConnection {
      try PostgresConnection(PostgresSettings(Server.address(database)))
    }

    private static func lines(_ set: ChangeSet) throws -> [String] {
      try set.changes.filter { $0.kind != .unknown }.map {
        "\($0.kind) \($0.user) \($0.attribute) \($0.old.forMessages) \($0.new.forMessages)"
      }
    }

    /// The changes that were written after the cursor.
    private static let later = [
      "updated 2 name “Zoë” “佐江”", "updated 1 age “36” 37", "updated 1 note “Grüße” “”",
      "updated 2 hair_color not set “#000000”", "added 4 name not set “Été”", "added 4 hair_color not set not set",
    ]

    @Test(arguments: layouts)
    func `a database of an older layout keeps its records and its consumers`(_ layout: Int64) throws {
      _ = try restore(layout)
      let consumers = PostgresStatement(
        once: "read the consumers", "SELECT string_agg(c::text, ';' ORDER BY c.name) FROM userstore.consumers c")
      let connection = try connect()
      let before = try connection.run(consumers)[0].text(0)
      let store = try UserStore(postgres: configuration)
      defer { store.close() }
      #expect(try connection.run(consumers)[0].text(0) == before && before.contains("counter"))
      let users = try store.read { try $0.users() }
      #expect(try users.map { try $0.name } == ["NIX", "佐江", "Été"])
      #expect(users.map { $0.storedValues["hair_color"] } == [.text("#a52a2a"), .text("#000000"), nil])
      let expected: [AttributeName: StoredValue] = [
        "name": .text("NIX"), "hair_color": .text("#a52a2a"), "age": .integer(37), "ratio": .real(0.5),
        "note": .text(""), "größe": .text("1.0"), "ключ": .text("1"), "photo": .blob([0x00, 0xFF]),
      ]
      #expect(users.first?.storedValues == expected)
      let unique = try store.read { try $0.uniqueAttributes }
      #expect(unique.map(\.attribute) == (layout < 5 ? [] : ["note"]) && unique.allSatisfy(\.ignoresCase))
      #expect(try UserStore.check(postgres: configuration).isEmpty)
    }

    @Test func `a database of the seventh layout keeps what was decided about sets of replicas`() throws {
      _ = try restore(7)
      let store = try UserStore(postgres: configuration)
      defer { store.close() }
      let known = try store.read { try $0.session.replicated?.decisions(about: [(1, 10), (2, 20), (2, 1)], of: 5) }
      #expect(known == [.expired, Decision("conflict", detail: "é"), .forked])
      #expect(try store.read { try $0.session.rows(after: 0, through: .max).compactMap(\.pushed) } == [10])
    }

    @Test(arguments: layouts)
    func `a feed continues from a cursor of an older layout, through old and new changes`(_ layout: Int64) async throws
    {
      let cursor = try restore(layout)
      let store = try UserStore(postgres: configuration)
      defer { store.close() }
      let past = try await store.page(after: cursor)
      #expect(try past.flatMap(Self.lines) == Self.later)
      var feed = store.changeSets(after: try #require(past.last).cursor).makeAsyncIterator()
      try await store.write(origin: "now") { try $0.rename(User.ID(2), to: "Zoë") }
      let own = try #require(await feed.next())
      #expect(try Self.lines(own) == ["updated 2 name “佐江” “Zoë”"] && own.origin == "now")
      try connect().execute(
        "UPDATE userstore.users SET name = 'x', hair_color = '#ffffff' WHERE id = 4", to: "write as another program")
      let foreign = try #require(await feed.next())
      #expect(
        try Self.lines(foreign) == ["updated 4 name “Été” “x”", "updated 4 hair_color not set “#ffffff”"])
      try await store.write { _ = try $0.undo() }
      #expect(try await store.read { try $0.user(User.ID(2))?.name } == "佐江")
      #expect(try UserStore.check(postgres: configuration).isEmpty)
    }

    @Test(arguments: layouts)
    func `a database of an older layout becomes as a new one`(_ layout: Int64) throws {
      _ = try restore(layout)
      let store = try UserStore(postgres: configuration)
      // The index of a unique attribute is a part, too.
      #expect(try store.removeUnique(on: "note") == (layout >= 5))
      store.close()
      let other = try Server.newDatabase()
      try UserStore(postgres: PostgresConfiguration(Server.address(other))).close()
      // Not the first migration: three earlier ones may have made the same parts.
      let parts = PostgresStatement(
        once: "read the layout",
        """
        SELECT string_agg(part || definition, ';' ORDER BY part COLLATE "C", definition COLLATE "C") FROM (
          SELECT * FROM userstore.layout
          UNION ALL SELECT * FROM userstore.parts()
          UNION ALL SELECT 'meta', format('%s %s', layout, min_client) FROM userstore.meta
          UNION ALL SELECT number::text, name || fingerprint FROM userstore.migrations
            WHERE number > \(PostgresSchema.oldest)) p
        """)
      let new = try PostgresConnection(PostgresSettings(Server.address(other))).run(parts)[0].text(0)
      #expect(try connect().run(parts)[0].text(0) == new)
    }
  }
}
