import Foundation
import Testing

/// The tests in this folder run the examples of the articles.
@Suite struct ArticleTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let catalog = tests.deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/UserStore/UserStore.docc")

  /// The articles with examples, each of which has a file of tests with its name.
  private static var articles: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: catalog.path).filter { name in
        name.hasSuffix(".md")
          && (try? String(contentsOf: catalog.appendingPathComponent(name), encoding: .utf8).contains("```swift"))
            == true
      }.map { String($0.dropLast(3)) }.sorted()
    }
  }

  @Test func `a test contains every example of every article, line by line`() throws {
    #expect(try Self.articles.contains("Listening"))
    for article in try Self.articles {
      let text = try String(contentsOf: Self.catalog.appendingPathComponent(article + ".md"), encoding: .utf8)
      let test = Self.tests.appendingPathComponent(article + "Article.swift")
      let source = Self.lines(try String(contentsOf: test, encoding: .utf8)).joined(separator: "\n")
      for block in text.components(separatedBy: "```swift\n").dropFirst() {
        let example = Self.lines(block.components(separatedBy: "```")[0]).joined(separator: "\n")
        #expect(source.contains(example), "\(article): \(example)")
      }
    }
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}
