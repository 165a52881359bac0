import Foundation
import Testing

/// A pipe gets a value as it is stored; a terminal gets nothing that acts on it.
@Suite(.bounded, .serialized) struct `Values in a pipe` {
  private static let names = [
    "👨‍👩‍👧‍👦", "علی‌رضا", "శ్రీ‌రామ్", "🏴\u{E0067}\u{E0062}\u{E007F}", "e\u{301}", "\u{202E}gnp.exe", "a\u{200B}b", "\u{FEFF}x",
    "tab\there", "two\nlines", "\\n is no line", "back\\\\slash\\", "\r", "\u{1B}[31mred", "\u{9B}31m", " spaces ",
    "\"quoted\" 'too'", "a=b", "\u{2028}", "\u{10FFFF}",
  ]

  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("init")
    for name in Self.names {
      try workspace.sqlite("INSERT INTO users (name) VALUES (\(quoted(name)))")
    }
    return workspace
  }

  private func quoted(_ text: String) -> String {
    "CAST(x'" + text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "' AS TEXT)"
  }

  @Test func `get prints the value byte for byte`() throws {
    let workspace = try makeWorkspace()
    for (index, name) in Self.names.enumerated() {
      let output = try workspace.run("get", "\(index + 1)", "name").output
      #expect(Array(output.utf8) == Array((name + "\n").utf8), "\(name.debugDescription)")
    }
  }

  @Test func `each plain record is one line whose fields can be separated and read back`() throws {
    let workspace = try makeWorkspace()
    try workspace.sqlite("INSERT INTO attributes SELECT id, 'note', name FROM users")
    let lines = try workspace.run("list").output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count == Self.names.count)
    for (line, name) in zip(lines, Self.names) {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      let read = fields.map { Array(unescaped($0).utf8) }
      #expect(read.count == 4 && read[1] == Array(name.utf8) && read[3] == Array("note=\(name)".utf8), "\(line)")
      #expect(!line.unicodeScalars.contains { $0 != "\t" && $0.properties.generalCategory == .control })
    }
  }

  /// Reads a field of a plain record.
  private func unescaped(_ field: Substring) -> String {
    var text = String.UnicodeScalarView()
    var rest = Array(field.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\", let kind = rest.popFirst() else {
        text.append(scalar)
        continue
      }
      switch kind {
      case "n": text.append("\n")
      case "t": text.append("\t")
      case "r": text.append("\r")
      case "u":
        let digits = rest.dropFirst().prefix { $0 != "}" }
        rest = rest.dropFirst(digits.count + 2)
        text.append(Unicode.Scalar(UInt32(String(String.UnicodeScalarView(digits)), radix: 16)!)!)
      default: text.append(kind)
      }
    }
    return String(text)
  }
}
