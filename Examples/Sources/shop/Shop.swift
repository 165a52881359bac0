import Foundation
import GRDB
import UserStore
import UserStoreGRDB

/// A customer as a form shows it, stored as the attributes of a user.
struct Customer: UserStore.Profile {
  var name: String
  var email: String
  var lastOrder: String?
}

/// An order of a customer: a row of an own table, in the same file.
struct Order: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "orders"
  var customer: Int64
  var item: String
}

/// Reads commands from the standard input: `join EMAIL NAME`, `edit EMAIL NAME`, `order EMAIL ITEM`, `ship EMAIL`, `leave EMAIL`.
///
/// An order, its event, and the customer's attribute are one transaction. The mailer is an outbox: it writes a mail for each event,
/// and acknowledges it in the same transaction, so that a kill at any moment neither loses nor repeats a mail.
@main struct Shop {
  let store: UserStore
  let database: DatabasePool

  @MainActor static func main() async throws {
    guard CommandLine.arguments.count == 2 else { return say("usage: shop shop.db") }
    let store = try await UserStore.open(path: CommandLine.arguments[1])
    try await store.addUnique(on: "email", ignoringCase: true)
    var waiting = GRDB.Configuration()
    waiting.busyMode = .timeout(5)
    let shop = Shop(store: store, database: try DatabasePool(path: CommandLine.arguments[1], configuration: waiting))
    try shop.migrate()
    let mailer = try await store.consumer("mailer", from: .oldest, of: [.event("ordered")])
    let mailing = Task { try await shop.sendMails(mailer) }
    let screen = Screen()
    let showing = Task { try await screen.follow(store, shop.database) }
    for await line in Screen.lines() {
      do {
        try await shop.run(line.split(separator: " ", maxSplits: 2).map(String.init))
        say("done: \(line)")
      } catch { say("refused: \(error)") }
    }
    for task in [showing, mailing] { task.cancel() }
    _ = await mailing.result
    try? shop.database.close()
    await store.close()
  }

  private func migrate() throws {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("orders and mails") { db in
      let customer = "customer INTEGER NOT NULL REFERENCES users (id) ON DELETE"
      try db.execute(
        sql: """
          CREATE TABLE orders (id INTEGER PRIMARY KEY, \(customer) RESTRICT, item TEXT NOT NULL);
          CREATE TABLE mails (id INTEGER PRIMARY KEY, \(customer) CASCADE, text TEXT NOT NULL);
          CREATE INDEX orders_of ON orders (customer); CREATE INDEX mails_to ON mails (customer);
          """)
    }
    try migrator.migrate(database)
  }

  private func run(_ words: [String]) async throws {
    guard words.count > 1 else { throw StoreError(.badValue, "a command has an e-mail address") }
    let (email, rest) = (words[1], words.dropFirst(2).first ?? "")
    switch words[0] {
    case "join": try await store.write(origin: "shop") { users in try users.add(Customer(name: rest, email: email)) }
    case "edit":
      // As a form does, which refuses what somebody else has changed meanwhile.
      let id = try await database.read { db in try customer(of: email, db) }
      guard let original = try await store.profile(Customer.self, of: id) else { return }
      var edited = original
      edited.name = rest
      try await store.write(origin: "form") { [edited] users in try users.save(edited, over: original, of: id) }
    case "order":
      try await change(email) { db, customer in  // in GRDB's database.write
        try Order(customer: customer.rawValue, item: rest).insert(db)
        try db.users(of: store, origin: "shop") { users in
          try users.update(Customer.self, of: customer) { $0.lastOrder = rest }
          try users.post("ordered", .text(rest), about: customer)
        }
      }
    case "ship":
      try await change(email) { db, id in _ = try Order.filter(Column("customer") == id.rawValue).deleteAll(db) }
    case "leave":
      // The foreign key refuses it while there are orders, and removes the mails.
      try await change(email) { db, id in try db.users(of: store) { users in try users.remove(id) } }
    default: throw StoreError(.badValue, "join, edit, order, ship, or leave, and an e-mail address")
    }
  }

  private func change(_ email: String, _ body: @Sendable @escaping (Database, UserStore.User.ID) throws -> Void)
    async throws
  {
    try await database.write { db in try body(db, try customer(of: email, db)) }
  }

  private func customer(of email: String, _ db: Database) throws -> UserStore.User.ID {
    let user = try db.readUsers(of: store) { users in try users.user(where: "email", is: .text(email)) }
    guard let user else { throw StoreError(.userNotFound, "nobody has the address \(email)") }
    return user.id
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
}
