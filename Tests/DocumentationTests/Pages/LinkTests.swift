import Foundation
import Testing

/// The links between the pages of the documentation, and from the promises to their tests.
@Suite struct LinkTests {
  @Test func `every link leads to a file, and to a heading in it`() throws {
    var documents = try ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Server/README.md"].map { try Document($0) }
    for folder in ["", "/Benchmarks", "/Fuzz", "/Model", "/Mutants", "/Postgres", "/Torture"] {
      documents.append(try Document("Proof\(folder)/README.md"))
    }
    for folder in Document.catalogs + ["Proof/Benchmarks/Results"] { documents += try Document.inside(folder) }
    var count = 0
    for document in documents {
      for link in links(of: document) {
        count += 1
        let isThere = try leads(link, from: document)
        #expect(isThere, "\(document.path): \(link)")
      }
    }
    #expect(count > 100)
  }

  @Test func `every promise names tests that exist`() throws {
    let guarantees = try Document(Document.catalogs[0] + "/Reference/Guarantees.md")
    let rows = guarantees.prose.filter { $0.hasPrefix("| ") }.dropFirst(2)
    let sources = try sourcesOfTests()
    #expect(rows.count > 20)
    for row in rows {
      let cells = row.split(separator: " | ", omittingEmptySubsequences: false)
      // What is in parentheses explains.
      let tests = try #require(cells.last).replacing(/\([^)]*\)/, with: "")
      let names = tests.matches(of: /`([^`]+)`/).map { String($0.1) }
      #expect(cells.count == 3 && !names.isEmpty, "\(row)")
      let missing = names.filter { !exists($0, in: sources) }
      #expect(missing.isEmpty, "\(cells[0])")
    }
  }

  /// The destinations of the links and pictures of a page, except those in the network.
  private func links(of document: Document) -> [String] {
    let text = document.prose.joined(separator: "\n").replacing(/`[^`\n]*`/, with: "")
    return text.matches(of: /\]\(([^)\s]+)\)|<(doc:[^>\s]+)>/).map { String($0.1 ?? $0.2 ?? "") }
      .filter { !$0.hasPrefix("http") }
  }

  private func leads(_ link: String, from document: Document) throws -> Bool {
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let destination: String
    if let catalog = document.catalog, parts[0].hasPrefix("doc:") {
      let name = String(parts[0].dropFirst(4))
      guard let article = try Document.inside(catalog).first(where: { $0.name == name }) else { return false }
      destination = article.path
    } else if let catalog = document.catalog, !parts[0].contains("/") {
      // A picture, which an article names without its folder and extension.
      destination = catalog + "/Resources/\(parts[0]).svg"
    } else if parts[0].isEmpty {
      destination = document.path
    } else {
      let path = document.folder.appendingPathComponent(parts[0]).standardizedFileURL.path
      guard path.hasPrefix(Document.root.standardizedFileURL.path + "/") else { return false }
      destination = String(path.dropFirst(Document.root.standardizedFileURL.path.count + 1))
    }
    guard FileManager.default.fileExists(atPath: Document.root.appendingPathComponent(destination).path) else {
      return false
    }
    return try parts.count == 1 || Document(destination).anchors.contains(parts[1])
  }

  /// The tests in Swift and Python, with the names of their files.
  private func sourcesOfTests() throws -> (names: Set<String>, text: String) {
    var names: Set<String> = []
    var text = ""
    for folder in ["Tests", "Server/Tests"] {
      let root = Document.root.appendingPathComponent(folder)
      let paths = FileManager.default.enumerator(atPath: root.path)?.allObjects as? [String] ?? []
      for path in paths where path.hasSuffix(".swift") || path.hasSuffix(".py") {
        let file = root.appendingPathComponent(path)
        names.insert(file.deletingPathExtension().lastPathComponent)
        text += try String(contentsOf: file, encoding: .utf8)
      }
    }
    return (names, text)
  }

  private func exists(_ name: String, in sources: (names: Set<String>, text: String)) -> Bool {
    if name.contains("/") {
      let script = name.split(separator: " ")[0]
      return FileManager.default.fileExists(atPath: Document.root.appendingPathComponent(String(script)).path)
    }
    return sources.names.contains(name) || sources.text.contains("struct `\(name)`")
      || sources.text.contains("struct \(name) ")
  }
}
