import Foundation
import Testing

/// Compares the examples of the article “Own tables” with the example program, which runs them.
@Suite struct OwnTablesArticle {
  @Test func `the shop has the transaction of the article`() throws {
    let article = try Document("Sources/UserStore/UserStore.docc/Storing/OwnTables.md")
    let example = article.lines.drop { !$0.hasPrefix("    try await change") }.prefix { $0.hasPrefix("    ") }
    #expect(example.count == 7)
    let shop = try String(
      contentsOf: Document.root.appendingPathComponent("Examples/Sources/shop/Shop.swift"), encoding: .utf8)
    let text = trimmed(shop.split(separator: "\n"))
    #expect(text.contains(trimmed(Array(example))))
    #expect(text.contains("try db.users(of: store) { users in try mailer.acknowledge(set, in: &users) }"))
  }
}
