import Foundation
import Testing
import UserStore

/// What the library writes as JSON is what the article “The JSON of changes” says.
@Suite(.timeLimit(.minutes(5))) struct FormatTests {
  @Test func `a line, a change or an event alone, and one that JSONEncoder has written fit the schema`() throws {
    var lines: [String] = []
    for set in try sets() {
      let changes = try set.changes
      let entries = try set.entries
      for (index, entry) in entries.enumerated() {
        lines.append(entry.json(in: set, isLast: index == entries.count - 1))
        #expect(lines.last?.contains("\"cursor\"") == (index == entries.count - 1))
      }
      lines += try set.events.map(\.json)
      // JSONEncoder has no infinity.
      for change in changes where change.new != .real(.infinity) {
        lines += [change.json, String(decoding: try JSONEncoder().encode(change), as: UTF8.self)]
      }
    }
    #expect(lines.count > 20)
    #expect(try mistakes(in: lines) == "")
    // The lines are looked at.
    let wrong = lines[0].replacing("\"op\":\"insert\"", with: "\"op\":\"insert\",\"more\":1")
    #expect(try mistakes(in: [wrong]).contains("more"))
    #expect(try mistakes(in: [#"{"op":"update","user":1}"#]).contains("required"))
    #expect(try mistakes(in: [#"{"op":"later","cursor":"v1-1"}"#]) == "")
  }

  @Test func `the article shows a line that fits its schema`() throws {
    let article = try Document(Document.catalogs[0] + "/Reference/Format.md")
    let example = try #require(article.blocks("json").first)
    #expect(try mistakes(in: example.lines.map(String.init)) == "")
  }

  /// Sets with every kind of change and of value.
  private func sets() throws -> [UserStore.ChangeSet] {
    let store = try UserStore.inMemory()
    let values: [StoredValue] = [
      .integer(.max), .real(1), .real(.infinity), .text("\u{1B}\"\u{202E}"), .blob([0, 255]),
      .invalidText([0x4E, 0xFF]), .null,
    ]
    let zoe = try store.write { users in
      try users.add(
        values.enumerated().map { (AttributeName("v\($0)"), $1) }.filter { $0.1 != values[5] } + [(.name, .text("Zoë"))]
      )
    }
    try store.write { try $0.set("v0", of: zoe, to: .null) }
    try store.write(origin: "x") { try $0.remove(zoe) }
    try store.purge(zoe)
    try store.write { users in
      try users.post("invited", .text("{}"), about: users.add(name: "Ann"))
      for value in values { try users.post("\u{202E}\"", value) }
    }
    try store.write { try $0.add(name: "NIX", hairColor: UserStore.Color("auburn")) }
    return try store.page(after: nil)
  }

  private func mistakes(in lines: [String]) throws -> String {
    let process = Process()
    process.executableURL = Document.root.appendingPathComponent("Tests/Format/validate.py")
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, output)
    try process.run()
    input.fileHandleForWriting.write(Data((lines.joined(separator: "\n") + "\n").utf8))
    try input.fileHandleForWriting.close()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
