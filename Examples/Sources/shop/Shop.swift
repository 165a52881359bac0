import Foundation
import GRDB
import UserStore
import UserStoreGRDB

/// An order of a customer, who is a user of the store: a row of an own table, in the same file.
struct Order: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "orders"
  var customer: Int64
  var item: String
}

/// What the screen shows: the customers, from a live list of the store, with their orders, from an observation of GRDB.
@MainActor final class Screen {
  var customers = UserStore.Rows() { didSet { show() } }
  var orders: [Order] = [] { didSet { show() } }

  private func show() {
    let lines = customers.map { user in
      let items = orders.filter { $0.customer == user.id.rawValue }.map(\.item)
      return "\((try? user.name) ?? "?"): \(items.isEmpty ? "-" : items.joined(separator: ", "))"
    }
    say("screen: " + lines.joined(separator: "; "))
  }
}

/// Prints a line at once.
private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Reads commands from the standard input, until it ends: `join NAME`, `order NAME ITEM`, `ship NAME`, `leave NAME`.
///
/// An order, its event, and the customer's attribute are one transaction. The mailer is an outbox: it writes a mail for each event,
/// and acknowledges it in the same transaction, so that a kill at any moment neither loses nor repeats a mail.
@main
struct Shop {
  let store: UserStore
  let database: DatabasePool

  /// An error at the top level would end the program with a trap and a register dump.
  static func main() async {
    guard CommandLine.arguments.count == 2 else {
      FileHandle.standardError.write(Data("usage: shop shop.db\n".utf8))
      exit(64)
    }
    do { try await run(CommandLine.arguments[1]) } catch {
      FileHandle.standardError.write(Data("shop: error: \(error)\n".utf8))
      exit(1)
    }
  }

  @MainActor static func run(_ path: String) async throws {
    let store = try await UserStore.open(path: path)
    var waiting = GRDB.Configuration()
    waiting.busyMode = .timeout(5)
    let shop = Shop(store: store, database: try DatabasePool(path: path, configuration: waiting))
    try shop.migrate()
    let mailer = try await store.consumer("mailer", from: .oldest, of: [.event("ordered")])
    let mailing = Task { try await shop.sendMails(mailer) }

    let screen = Screen()
    let list = try await store.list(UserStore.Query(sortedBy: [.ascending(.name)]))
    list.bindAndFire("screen", on: .latestOnMain, owner: screen) { screen, rows in screen.customers = rows }
    let observation = ValueObservation.tracking { db in try Order.fetchAll(db) }
    let showing = Task {
      for try await orders in observation.values(in: shop.database) { screen.orders = orders }
    }

    for await line in commands() {
      do {
        try await shop.run(line.split(separator: " ", maxSplits: 2).map(String.init))
        say("done: \(line)")
      } catch { say("refused: \(error)") }
    }
    showing.cancel()
    mailing.cancel()
    _ = await mailing.result
    try? shop.database.close()
    await store.close()
  }

  private func migrate() throws {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("orders and mails") { db in
      try db.create(table: "orders") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("customer", .integer).notNull().indexed().references("users", column: "id", onDelete: .restrict)
        table.column("item", .text).notNull()
      }
      try db.create(table: "mails") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("customer", .integer).indexed().references("users", column: "id", onDelete: .cascade)
        table.column("text", .text).notNull()
      }
    }
    try migrator.migrate(database)
  }

  private func run(_ words: [String]) async throws {
    switch (words.first, words.count) {
    case ("join", 2): try await store.write(origin: "shop") { users in try users.add(name: words[1]) }
    case ("order", 3):
      try await database.write { db in
        let customer = try id(named: words[1], db)
        try Order(customer: customer.rawValue, item: words[2]).insert(db)
        try db.users(of: store, origin: "shop") { users in
          try users.set(Attribute<String>("lastOrder"), of: customer, to: words[2])
          try users.post("ordered", .text(words[2]), about: customer)
        }
      }
    case ("ship", 2):
      try await database.write { db in
        _ = try Order.filter(Column("customer") == id(named: words[1], db).rawValue).deleteAll(db)
      }
    case ("leave", 2):
      // The foreign key refuses it while there are orders, and removes the mails.
      try await database.write { db in
        let customer = try id(named: words[1], db)
        try db.users(of: store, origin: "shop") { users in try users.remove(customer) }
      }
    default: throw StoreError(.badValue, "join NAME, order NAME ITEM, ship NAME, or leave NAME")
    }
  }

  private func id(named name: String, _ db: Database) throws -> UserStore.User.ID {
    let ids = try db.readUsers(of: store) { users in try users.ids(named: name) }
    guard let id = ids.first else { throw StoreError(.userNotFound, "nobody is called \(name)") }
    return id
  }

  private func sendMails(_ mailer: UserStore.Consumer) async throws {
    for try await set in mailer {
      try await database.write { db in
        for event in try set.events where event.name == "ordered" {
          guard case .text(let item) = event.payload, let id = event.user?.rawValue else { continue }
          // Nobody writes to a customer who has left.
          let sql = "INSERT INTO mails (customer, text) SELECT id, ? FROM users WHERE id = ?"
          try db.execute(sql: sql, arguments: [item, id])
        }
        try db.users(of: store) { users in try mailer.acknowledge(set, in: &users) }
      }
    }
  }

  private static func commands() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return lines
  }
}
