import Foundation
import UserStore
import UserStorePostgres

/// Own tables on PostgreSQL: an order, an attribute of its customer, and an event are one transaction of another client.
///
/// Usage: `orders ADDRESS ITEM ITEM…`. Each item is ordered by a new customer; the last one is undone. Prints what a listener of the store
/// receives.
@main struct Orders {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let address = arguments.first, arguments.count > 2 else { return print("usage: orders ADDRESS ITEM ITEM…") }
    let items = arguments.dropFirst()
    let store = try UserStore(postgres: PostgresConfiguration(address))
    try await store.addUnique(on: "email")
    let client = try Client(address)
    try client.run("CREATE SCHEMA IF NOT EXISTS shop")
    try client.run(
      """
      CREATE TABLE IF NOT EXISTS shop.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        customer bigint NOT NULL REFERENCES userstore.users (id) ON DELETE CASCADE, item text NOT NULL)
      """)
    let feed = store.changeSets(after: try await store.read { try $0.cursor }, of: [.event("ordered")])
    for item in items {
      let customer = try await store.write {
        try $0.add([(.name, .text("Zoe")), ("email", .text("\(item)@example.com"))])
      }
      do {
        try client.transaction {
          try client.order(item, by: customer)
          if item == items.last { throw CancellationError() }
        }
      } catch is CancellationError {}
    }
    var missing = items.count - 1
    for try await set in feed {
      for event in try set.events {
        guard let customer = event.user else { continue }
        // Already there: the event was committed with the order and the attribute.
        let orders = try client.run("SELECT item FROM shop.orders WHERE customer = $1", "\(customer)")
        let last = try await store.value(Attribute<String>("last_order"), of: customer)
        print("ordered: \(orders.joined(separator: ", ")); last order: \(last ?? "none")")
        missing -= 1
      }
      if missing == 0 { break }
    }
    // The key removes the orders of a customer who leaves.
    if let first = try await store.ids(named: "Zoe").first { try await store.write { _ = try $0.remove(first) } }
    print("orders: \(try client.run("SELECT count(*) FROM shop.orders").joined())")
    await store.close()
  }
}

extension Client {
  /// Writes an order, the customer's attribute, and the event.
  fileprivate func order(_ item: String, by customer: UserStore.User.ID) throws {
    try run("INSERT INTO shop.orders (customer, item) VALUES ($1, $2)", "\(customer)", item)
    try run(
      """
      INSERT INTO userstore.attributes (user_id, name, text) VALUES ($1, 'last_order', $2)
        ON CONFLICT (user_id, name) DO UPDATE SET integer = NULL, real = NULL, text = excluded.text, bytes = NULL, raw = NULL
      """, "\(customer)", item)
    try run("SELECT userstore.post('ordered', $2, about => $1)", "\(customer)", item)
  }
}
