import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Files that cannot be imported` {
  /// Each case: the line after a good record, the position of the mistake, and a part of the error message.
  static let lines: [(text: String, place: String, words: String)] = [
    ("{\"name\":\"x\",\"name\":\"y\"}", "2:", "\"name\" is given twice"),
    ("{\"name\":\"x\",\"hair-color\":\"red\",\"hair_color\":\"red\"}", "2:", "given twice"),
    ("{\"name\":\"\"}", "2:", "a name cannot be empty"),
    ("{\"name\":\"\(String(repeating: "x", count: 1_001))\"}", "2:", "at most 1000 characters"),
    ("{\"name\":7}", "2:", "a name must be text"),
    ("{\"name\":null}", "2:", "needs a name"),
    ("{\"age\":7}", "2:", "a user needs a name"),
    ("{\"name\":\"a\\u0000b\"}", "2:", "control characters"),
    ("{\"name\":\"x\",\"\":1}", "2:", "name of an attribute cannot be empty"),
    ("{\"name\":\"x\",\"hair_color\":\"aubrun\"}", "2:", "did you mean \"auburn\"?"),
    ("{\"name\":\"x\",\"hair_color\":7}", "2:", "is not a color"),
    ("{\"name\":\"x\",\"id\":\"7\"}", "2:", "an id must be a whole number"),
    ("{\"name\":\"x\",\"id\":0.5}", "2:", "an id must be a whole number"),
    ("{\"name\":\"x\",\"n\":9223372036854775808}", "2:17:", "does not fit into 64 bits"),
    ("{\"name\":\"x\",\"n\":-9223372036854775809}", "2:17:", "does not fit into 64 bits"),
    ("{\"name\":\"x\",\"n\":01}", "2:17:", "is not a number"),
    ("{\"name\":\"x\",\"n\":+1}", "2:17:", "is not a number"),
    ("{\"name\":\"x\",\"n\":NaN}", "2:17:", "expected a value"),
    ("{\"name\":\"x\",\"n\":[]}", "2:17:", "a value cannot be a list"),
    ("{\"name\":\"x\",\"n\":\(String(repeating: "[", count: 100_000))}", "2:17:", "a value cannot be a list"),
    (
      "{\"name\":\"x\",\"n\":\(String(repeating: "{\"a\":", count: 100_000))}", "2:17:",
      "a value can be an object only for data"
    ),
    ("{\"name\":\"x\",\"n\":{}}", "2:17:", "a value can be an object only for data"),
    ("{\"name\":\"x\",\"n\":{\"base64\":\"*\"}}", "2:27:", "not base64"),
    ("{\"name\":\"x\"", "2:12:", "ends in the middle"),
    ("{\"name\":\"x", "2:11:", "ends in the middle"),
    ("{\"name\":\"\\", "2:11:", "ends in the middle"),
    ("{\"name\":\"\\u12", "2:14:", "ends in the middle"),
    ("{\"name\":\"\\u12\"}", "2:14:", "four hexadecimal digits"),
    ("{\"name\":\"x\",}", "2:13:", "expected the name of a member"),
    ("{\"name\" \"x\"}", "2:9:", "expected a colon"),
    ("{\"name\":\"x\" \"n\":1}", "2:13:", "expected a comma or }"),
    ("{'name':'x'}", "2:2:", "in quotes"),
    ("{\"name\":\"x\"} {\"name\":\"y\"}", "2:14:", "unexpected text after the record"),
    ("[{\"name\":\"x\"}]", "2:1:", "a record must be an object"),
    ("name,age", "2:1:", "a record must be an object"),
    ("{\"name\":\"\\ud800\"}", "2:10:", "unpaired surrogate"),
    ("{\"name\":\"\\udc00\\ud800\"}", "2:10:", "unpaired surrogate"),
    ("{\"name\":\"\\ud800\\u0041\"}", "2:10:", "unpaired surrogate"),
    ("{\"name\":\"\\x\"}", "2:10:", "no such escape"),
    ("{\"name\":\"a\tb\"}", "2:11:", "control character"),
    ("{\"name\":\"a\u{1F}b\"}", "2:11:", "control character"),
    ("\u{0}", "2:1:", "a record must be an object"),
    ("\u{FEFF}{\"name\":\"x\"}", "2:1:", "a record must be an object"),
  ]

  static let rows: [(text: String, place: String, words: String)] = [
    ("", "1:", "the file is empty"), ("\n\n", "1:", "the file is empty"),
    ("age,note\n1,2", "1:", "has no column \"name\" or \"id\""),
    ("name,,age\nA,1,2", "2:", "column 2, after \"name\", has no name"),
    ("name,age,age\n", "1:", "two columns are named \"age\""),
    ("name,hair-color,hair_color\n", "1:", "two columns"),
    ("name,\"age\n", "1:", "ends inside the quotes"),
    ("name,age\nA,1\nB", "3:", "the header has 2 columns, but this record has 1"),
    ("name,age\nA,1\nB,1,2", "3:", "this record has 3"),
    ("name,age\nA,\"1\nB,2\n", "2:", "ends inside the quotes"),
    ("name,age\nA,\"x\ny\"z\n", "3:3:", "expected a comma after the closing quote"),
    ("name,age\nA\"B,1\n", "2:2:", "a quote in a field"),
    ("name,age\nA\rB,1\n", "2:2:", "a carriage return"),
    ("name,age\n,1\n", "2:", "needs a name"),
    ("name,id\nA,x\n", "2:", "an id must be a whole number"), ("name,hair_color\nA,zebra\n", "2:", "is not a color"),
    ("name,p\nA,\"{\"\"base64\"\":\"\"*\"\"}\"\n", "2:", "not base64"),
    ("name,a\u{0}b\nA,1\n", "1:", "control characters"),
  ]

  private func expect(
    _ bytes: Data, _ name: String, _ place: String, _ words: String, in workspace: Workspace, _ options: [String] = []
  ) throws {
    try workspace.write(bytes, to: name)
    let path = workspace.folder + "/" + name
    let outcome = try workspace.finish([Workspace.tool, "import", path] + options)
    let text = String(decoding: bytes.prefix(100), as: UTF8.self)
    #expect(outcome.status == 65 && outcome.output.isEmpty, "\(text): \(outcome)")
    #expect(outcome.errors.hasPrefix("usertool: error: \(path):\(place) "), "\(text): \(outcome)")
    #expect(outcome.errors.contains(words), "\(text): \(outcome)")
    #expect(outcome.errors.contains("usertool: hint: nothing was changed"), "\(text): \(outcome)")
    #expect(outcome.errors.utf8.count < 1_000)
  }

  @Test func `each error has the file, the line and the reason, and the import changes nothing`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let before = try workspace.dump()
    for (text, place, words) in Self.lines {
      try expect(Data(("{\"name\":\"good\"}\n" + text).utf8), "in.jsonl", place, words, in: workspace)
    }
    for (text, place, words) in Self.rows { try expect(Data(text.utf8), "in.csv", place, words, in: workspace) }
    #expect(try workspace.dump() == before)
  }

  @Test func `invalid UTF-8 is rejected with its position`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let good = Data("{\"name\":\"good\"}\n{\"name\":\"a".utf8)
    try expect(good + [0xFF] + Data("\"}".utf8), "in.jsonl", "2:9:", "not valid UTF-8", in: workspace)
    try expect(good + [0xFF] + Data("\\n\"}".utf8), "in.jsonl", "2:9:", "not valid UTF-8", in: workspace)
    try expect(
      Data("name\nZoë\nÖ\n".utf8) + [0x61, 0xC3], "in.csv", "4:", "the name is not valid UTF-8", in: workspace)
    try expect(Data([0x6E, 0x00, 0x61, 0x61]), "in.csv", "1:", "has no column \"name\"", in: workspace)
    #expect(try workspace.sqlite("SELECT count(*) FROM users").output == "0\n")
  }

  @Test(arguments: ["in.jsonl", "in.csv"])
  func `a line of a gigabyte is an error in bounded memory`(name: String) throws {
    let workspace = try Workspace()
    try workspace.run("init")
    // The file takes no space on the disk, because it is sparse.
    let head = name == "in.csv" ? "name" : "{\"name\":\"good\"}"
    let path = workspace.folder + "/" + name
    try workspace.finish(["sh", "-c", "echo '\(head)' > \(path); truncate -s 1G \(path)"])
    let (outcome, peak) = try workspace.measured(["import", path])
    #expect(outcome.status == 65, "\(outcome)")
    #expect(outcome.errors.hasPrefix("usertool: error: \(path):2: the line is longer than 128 MiB"), "\(outcome)")
    #expect(peak < 500 << 20 || Sanitizer.isAny, "\(peak >> 20) MiB")
    #expect(try workspace.sqlite("SELECT count(*) FROM users").output == "0\n")
  }

  @Test func `an endless line is an error, and does not fill the disk`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    // The limit of 200 MiB ends the test if the tool does not.
    let script = "ulimit -f 204800; (echo '{\"name\":\"good\"}'; cat /dev/zero) | '\(Workspace.tool)' import -"
    let outcome = try workspace.finish(["bash", "-c", script + "; exit ${PIPESTATUS[1]}"])
    #expect(outcome.status == 65, "\(outcome)")
    #expect(outcome.errors.hasPrefix("usertool: error: stdin:2: the line is longer than 128 MiB"), "\(outcome)")
    #expect(try workspace.sqlite("SELECT count(*) FROM users").output == "0\n")
  }

  @Test func `a line in a pipe that is too long can be skipped, and the next lines are read`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let script = "(head -c 300M /dev/zero; echo; echo '{\"name\":\"good\"}') | '\(Workspace.tool)' import - --skip-bad"
    let outcome = try workspace.finish(["bash", "-c", "ulimit -f 204800; " + script])
    #expect(outcome.status == 0 && outcome.errors.contains("stdin:1: the line is longer than 128 MiB"), "\(outcome)")
    #expect(try workspace.sqlite("SELECT name FROM users").output == "good\n")
  }

  @Test func `missing files and unknown formats are errors, and leave no database behind`() throws {
    let workspace = try Workspace()
    let folder = workspace.folder
    try workspace.write(Data(), to: "in.txt")
    for (arguments, status, words) in [
      ([folder + "/none.csv"], 66, "No such file"), ([folder, "--format", "csv"], 66, "it is a folder"),
      ([folder + "/in.txt"], 64, "is JSON lines or CSV"), ([folder + "/in.txt", "--format", "table"], 64, "table"),
      ([folder + "/in.txt", "--format", "csv"], 65, "the file is empty"),
      (["-", "--keep-ids", "--update"], 64, "cannot be combined"), (["-", "--batch", "0"], 64, "--batch"),
    ] as [([String], Int32, String)] {
      let outcome = try workspace.finish([Workspace.tool, "import"] + arguments)
      #expect(outcome.status == status && outcome.errors.contains(words), "\(arguments): \(outcome)")
    }
    #expect(workspace.bytes() == nil)
  }
}
