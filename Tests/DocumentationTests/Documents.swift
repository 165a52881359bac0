import Foundation

/// A page of the documentation: a Markdown file of the repository.
struct Document {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let catalogs = [
    "Sources/UserStore/UserStore.docc", "Sources/UserStorePostgres/UserStorePostgres.docc",
    "Sources/UserStoreSync/UserStoreSync.docc",
  ]

  /// The path in the repository.
  let path: String
  let text: String

  init(_ path: String) throws {
    self.path = path
    text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The pages of a folder and the folders in it, in the order of their paths.
  static func inside(_ folder: String) throws -> [Document] {
    let paths = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
    let names = (paths?.allObjects as? [String] ?? []).filter { $0.hasSuffix(".md") }
    return try names.sorted().map { try Document(folder + "/" + $0) }
  }

  /// The name of the file, without its extension.
  var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
  var folder: URL { Self.root.appendingPathComponent(path).deletingLastPathComponent() }
  /// The catalog that has this page as an article.
  var catalog: String? { Self.catalogs.first { path.hasPrefix($0 + "/") } }
  var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

  /// The blocks of code in a language, with the number of the line before each.
  func blocks(_ language: String) -> [(line: Int, lines: [Substring])] {
    var blocks: [(line: Int, lines: [Substring])] = []
    var isInside = false
    for (number, line) in lines.enumerated() {
      if isInside, line == "```" {
        isInside = false
      } else if isInside {
        blocks[blocks.count - 1].lines.append(line)
      } else if line == "```\(language)" {
        isInside = true
        blocks.append((number + 1, []))
      }
    }
    return blocks
  }

  /// The lines that are not code.
  var prose: [Substring] {
    var isInside = false
    return lines.filter { line in
      let isFence = line.hasPrefix("```")
      if isFence { isInside.toggle() }
      return !isFence && !isInside && !line.hasPrefix("    ")
    }
  }

  var headings: [Substring] {
    prose.filter { $0.hasPrefix("#") }.map { line in line.drop { $0 == "#" }.dropFirst() }
  }

  /// The headings as they are written after a # in a link.
  var anchors: [String] {
    headings.map { heading in
      String(heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }).replacing(" ", with: "-")
    }
  }
}

/// Lines without what surrounds them, to compare an example with the code of a test.
func trimmed(_ lines: some Sequence<Substring>) -> String {
  lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
}
