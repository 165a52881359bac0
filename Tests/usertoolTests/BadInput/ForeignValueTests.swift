import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Values that another program stored` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.sqlite(
      """
      UPDATE users SET name = CAST(x'61ff62' AS TEXT), hair_color = 'zebra';
      INSERT INTO attributes (user_id, name, value) VALUES (1, 'note', CAST(x'c328' AS TEXT)), (1, 'big', 9e999),
        (1, 'age', '41'), (1, 'photo', x'00ff'), (1, 'max', 9223372036854775807), (1, 'third', 1.0 / 3);
      """)
    return workspace
  }

  @Test func `a record with invalid values is printed, with invalid bytes escaped`() throws {
    let workspace = try makeWorkspace()
    let plain = try workspace.run("list")
    #expect(plain.status == 0)
    #expect(
      plain.output
        == "1\ta\\xffb\tzebra\tage=41\tbig=1e999\tmax=9223372036854775807\tnote=\\xc3(\tphoto={\"base64\":\"AP8=\"}\tthird=0.3333333333333333\n"
    )
    let json = try workspace.run("get", "1", "--format", "json")
    #expect(
      json.output
        == #"{"id":1,"name":{"text_base64":"Yf9i"},"hair_color":"zebra","age":"41","big":1e999,"max":9223372036854775807,"note":{"text_base64":"wyg="},"photo":{"base64":"AP8="},"third":0.3333333333333333}"#
        + "\n")
  }

  @Test func `get of an invalid value is exit code 65, and the error names the attribute`() throws {
    let workspace = try makeWorkspace()
    for (attribute, words) in [
      ("name", "not valid UTF-8"), ("note", "not valid UTF-8"), ("hair_color", "hair_color of user 1"),
    ] {
      let outcome = try workspace.run("get", "1", attribute)
      #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
      #expect(outcome.errors.contains(words), "\(outcome)")
    }
    #expect(try workspace.run("get", "1", "photo").output == "{\"base64\":\"AP8=\"}\n")
    #expect(try workspace.run("get", "1", "age").output == "41\n")
  }

  @Test func `watch and log print the bytes of text that is not valid UTF-8`() throws {
    let workspace = try makeWorkspace()
    let lines = try workspace.run("log").lines.map(Line.decode)
    let invalid = lines.filter { if case .invalidText = $0.new { true } else { false } }
    #expect(invalid.map(\.attribute) == ["name", "note"])
    let watcher = try workspace.start("watch", "1", "--listener", "A=name", "--timeout", "300s")
    try watcher.waitUntilWatching()
    #expect(try watcher.output.next().map(Line.decode)?.new == .invalidText(base64: "Yf9i"))
    try workspace.run("rename", "1", "Zoë")
    let line = try #require(try watcher.output.next().map(Line.decode))
    #expect(line.old == .invalidText(base64: "Yf9i") && line.new == .text("Zoë"))
  }

  @Test func `invalid values survive an unrelated change`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("set", "1", "age=42")
    #expect(try workspace.sqlite("SELECT hex(name), hair_color FROM users").output == "61FF62|zebra\n")
  }
}
