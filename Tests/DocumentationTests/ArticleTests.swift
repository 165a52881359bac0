import Foundation
import Testing

/// The tests in this folder run the examples of the articles.
@Suite struct ArticleTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  @Test func `a test contains every example of every article, line by line`() throws {
    let catalogs = [Document.catalogs[0], Document.catalogs[2]]
    let articles = try catalogs.flatMap { try Document.inside($0) }.filter { !$0.blocks("swift").isEmpty }
    #expect(articles.contains { $0.name == "Listening" })
    for article in articles {
      let test = Self.tests.appendingPathComponent(article.name + "Article.swift")
      let source = trimmed(try String(contentsOf: test, encoding: .utf8).split(separator: "\n"))
      for block in article.blocks("swift") {
        let example = trimmed(block.lines)
        #expect(source.contains(example), "\(article.path): \(example)")
      }
    }
  }

  @Test func `the map of the articles has each of them`() throws {
    let map = try Document(Document.catalogs[0] + "/UserStore.md")
    for article in try Document.inside(Document.catalogs[0]) where !["UserStore", "ErrorCodes"].contains(article.name) {
      #expect(map.text.contains("\n- <doc:\(article.name)>\n"), "\(article.path)")
    }
  }
}
