import Foundation
import TestSupport
import Testing
import UserStore

/// Users that are exported and imported again are unchanged.
@Suite(.bounded, .serialized) struct `Export and import` {
  @Test(arguments: ["jsonl", "csv"])
  func `exported users with all kinds of values are imported unchanged`(format: String) throws {
    for seed in (0..<8).map({ Seed.base &+ $0 }) {
      let workspace = try Workspace()
      let users = try Self.fill(workspace, seed: seed)
      let file = workspace.folder + "/users." + format
      #expect(try workspace.run("export", file).status == 0)
      let other = workspace.folder + "/other.db"
      let outcome = try workspace.run("--db", other, "import", file, "--keep-ids")
      #expect(outcome.status == 0, "seed \(seed): \(outcome)")
      let back = try UserStore(path: other).read { try $0.users() }
      #expect(back == users, "seed \(seed)")
      // Exporting the imported users through a pipe gives the same bytes.
      let again = try workspace.run("--db", other, "export", "--format", format)
      #expect(Data(again.output.utf8) == workspace.bytes(of: "users." + format), "seed \(seed)")
    }
  }

  @Test(arguments: ["jsonl", "csv"])
  func `zero and negative ids, which only other programs assign, are imported unchanged`(format: String) throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite("INSERT INTO users (id, name) VALUES (-5, 'a'), (-1, 'b'), (0, 'c'), (3, 'd')")
    let file = workspace.folder + "/users." + format
    #expect(try workspace.run("export", file).status == 0)
    for option in ["--keep-ids", "--update"] {
      let other = workspace.folder + "/other\(option).db"
      let outcome = try workspace.run("--db", other, "import", file, option)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try workspace.run("--db", other, "list").output == "-5\ta\t\n-1\tb\t\n0\tc\t\n3\td\t\n")
      #expect(try workspace.run("--db", other, "add", "next").output == "4\n")
    }
    #expect(try workspace.run("import", file).status == 0)
    #expect(try workspace.run("list").lines.count == 8)
  }

  /// Stores random users with the library.
  private static func fill(_ workspace: Workspace, seed: UInt64) throws -> [User] {
    var random = SplitMix64(seed: seed)
    let store = try UserStore(path: workspace.database)
    let attributes: [AttributeName] = ["age", "note", "a,b", "quo\"te", "é", "\u{1F9D1}\u{200D}\u{1F680}", "=x", ":"]
    try store.write { transaction throws in
      for _ in 0..<40 {
        var values: [(attribute: AttributeName, value: StoredValue)] = [("name", .text(name(&random)))]
        if random.oneIn(2) { values.append(("hair_color", .text("#00ff\(random.choose("00", "a5"))"))) }
        for attribute in attributes where random.oneIn(2) { values.append((attribute, value(&random))) }
        let id = try transaction.add(values)
        if random.oneIn(4) { try transaction.remove(id) }
      }
    }
    return try store.read { try $0.users() }
  }

  private static func name(_ random: inout SplitMix64) -> String {
    random.choose(
      "NIX", "Zoë", "Zoe\u{308}", "41", "true", ":=x", " ", "O'Hara, \"Bob\"", "{\"base64\":\"AA==\"}",
      "{\"text_base64\":\"AA==\"}", "\u{202E}\u{FEFF}", "=1+1", "\u{1F9D1}\u{200D}\u{1F680}")
  }

  private static func value(_ random: inout SplitMix64) -> StoredValue {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .integer(random.choose(0, 1, -1, .min, .max, Int64(truncatingIfNeeded: random.next())))
    case 1: .real(random.choose(0, 1, -1.5, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300, 0.1))
    case 2: .real(Double(sign: .plus, exponent: Int.random(in: -60...60, using: &random), significand: 1.37))
    case 3: .blob((0..<Int.random(in: 0..<5, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    case 4: .text(String(String.UnicodeScalarView((0..<6).map { _ in scalar(&random) })))
    default:
      .text(
        random.choose(
          "", "1", "1.0", "-0", "1e5", "007", "true", "null", ":=", ":=1", "{\"base64\":\"AP8=\"}",
          " {\"base64\": \"*\"}",
          "{\"text_base64\":\"/w==\"}", "a\"b", "a\"\u{301},b", "a,b", "a\r\nb", "\r", "\n", "a\u{0}b", "\u{FEFF}x",
          "99999999999999999999", " x ", "\"", "\u{85}\u{7F}\u{2028}"))
    }
  }

  private static func scalar(_ random: inout SplitMix64) -> Unicode.Scalar {
    random.choose(
      "\"", ",", "\n", "\r", "\\", "\u{0}", "\u{1F}", "7", ":", "=", "{", "é", "\u{301}", "\u{1F600}", "\u{FFFD}",
      "\u{10FFFF}")
  }

  @Test func `other programs can read an export`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "O'Hara, \"Bob\"", "--set", "age=41", "--set", "room:=007", "--set", "note=a\nb")
    let csv = try workspace.run("export", "--format", "csv").output
    #expect(csv == "id,name,hair_color,age,note,room\n1,\"O'Hara, \"\"Bob\"\"\",,41,\"a\nb\",007\n")
    try workspace.write(Data(csv.utf8), to: "users.csv")
    let program = "import csv; print(list(csv.DictReader(open('\(workspace.folder)/users.csv')))[0]['name'])"
    let python = try workspace.finish([Child.python, "-c", program])
    #expect(python.output == "O'Hara, \"Bob\"\n")
    #expect(
      try workspace.run("export").output
        == #"{"id":1,"name":"O'Hara, \"Bob\"","hair_color":null,"age":41,"note":"a\nb","room":"007"}"# + "\n")
  }

  @Test func `text that is not valid UTF-8 is exported as base64`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.sqlite("INSERT INTO attributes (user_id, name, value) VALUES (1, 'note', CAST(x'61ff' AS TEXT))")
    #expect(try workspace.run("export").output.contains(#""note":{"text_base64":"Yf8="}"#))
  }

  @Test func `an export with a slow reader is one state, and does not keep the -wal file from being cleared`() throws {
    let workspace = try Workspace()
    let store = try UserStore(path: workspace.database)
    let text = String(repeating: "x", count: 10_000)
    try store.write { transaction throws in
      for _ in 0..<100 { try transaction.add([("name", .text("before")), ("note", .text(text))]) }
    }
    // The export fills the pipe and waits, because nobody reads yet.
    let export = try workspace.start("export")
    let first = export.output.next()
    #expect(first?.contains("before") == true)
    try store.write { transaction throws in
      for id in try transaction.users().map(\.id) { try transaction.rename(id, to: "after") }
    }
    // This succeeds only if no process reads an older state.
    let checkpoint = try workspace.sqlite("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(checkpoint.output == "0|0|0\n", "\(checkpoint)")
    let rest = String(decoding: export.output.rest(), as: UTF8.self)
    #expect(rest.components(separatedBy: "before").count == 100 && !rest.contains("after"))
    #expect(export.wait() == 0)
  }
}
