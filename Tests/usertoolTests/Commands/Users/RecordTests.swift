import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Records` {
  @Test func `init creates a file that only its owner can read, and reports an existing one`() throws {
    let workspace = try Workspace()
    workspace.database = workspace.folder + "/deep/down/users.db"
    let first = try workspace.run("init")
    #expect(first.status == 0 && first.output.isEmpty && first.errors == "created \(workspace.database)\n")
    #expect(try workspace.run("init").errors.hasPrefix("unchanged"))
    #expect(try workspace.run("init", "--quiet").errors.isEmpty)
    let modes = try [workspace.database, workspace.folder + "/deep"].map { path in
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(modes == [0o600, 0o700])
  }

  @Test func `add creates the database and prints the id`() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("add", "Zoë").output == "1\n")
    let second = try workspace.run("add", "NIX", "--hair-color", "Auburn", "--set", "age=41", "--format", "json")
    #expect(second.output == ##"{"id":2,"name":"NIX","hair_color":"#a52a2a","age":41}"## + "\n")
  }

  @Test func `values keep their type and all their digits`() throws {
    let workspace = try Workspace()
    let cases = [
      ("a=41", "41"), ("b=-7", "-7"), ("c=1.0", "1.0"), ("d=1e3", "1000.0"), ("e=true", "1"), ("f=false", "0"),
      ("g=007", #""007""#), ("h:=41", #""41""#), ("i=+5", #""+5""#), ("j=", #""""#), ("k=null", #""null""#),
      ("l=9223372036854775807", "9223372036854775807"), ("m=0.1", "0.1"), ("n=5e-324", "5e-324"),
      ("o={\"base64\":\"AP8=\"}", #"{"base64":"AP8="}"#), ("p=a=b", #""a=b""#), ("q=\"quoted\"", #""\"quoted\"""#),
    ]
    try workspace.run("add", "NIX")
    try workspace.finish([Workspace.tool, "set", "1"] + cases.map(\.0))
    let expected = cases.map { #""\#($0.0.prefix(1))":\#($0.1)"# }.joined(separator: ",")
    let json = try workspace.run("get", "1", "--format", "jsonl").output
    #expect(json == #"{"id":1,"name":"NIX","hair_color":null,\#(expected)}"# + "\n")
  }

  @Test func `get prints a record or a single value`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "Zoë", "--set", "age=41")
    #expect(try workspace.run("get", "Zoë").output == "1\tZoë\t\tage=41\n")
    #expect(try workspace.run("get", "1", "name").output == "Zoë\n")
    #expect(try workspace.run("get", "1", "name", "--format", "json").output == "\"Zoë\"\n")
    #expect(try workspace.run("get", "1", "hair-color").errors.contains("has no \"hair_color\""))
    #expect(
      try workspace.run("get", "1", "--format", "table").output
        == "ID  NAME  HAIR COLOR  age\n 1  Zoë                41\n")
  }

  @Test func `list filters and sorts`() throws {
    let workspace = try Workspace()
    for (name, age) in [("b", "age=2"), ("a", "age=10"), ("c", "age=1.5"), ("d", "note=x"), ("e", "age:=2")] {
      try workspace.run("add", name, "--set", age)
    }
    #expect(try workspace.run("list").lines.map { $0.prefix(1) } == ["1", "2", "3", "4", "5"])
    #expect(try workspace.run("list", "--sort", "name").lines.map { $0.prefix(1) } == ["2", "1", "3", "4", "5"])
    #expect(try workspace.run("list", "--sort", "age").lines.map { $0.prefix(1) } == ["3", "1", "2", "5", "4"])
    #expect(try workspace.run("list", "--where", "age=2.0").lines.map { $0.prefix(1) } == ["1"])
    #expect(try workspace.run("list", "--where", "age:=2").lines.map { $0.prefix(1) } == ["5"])
    #expect(try workspace.run("list", "--where", "age=2", "--where", "name=x").output.isEmpty)
    let csv = try workspace.run("list", "--format", "csv", "--where", "name=d").output
    #expect(csv == "id,name,hair_color,note\n4,d,,x\n")
    let none = try workspace.run("list", "--format", "json", "--where", "name=x")
    #expect(none.output == "[]\n" && none.status == 0)
  }

  @Test func `reading commands change no byte of the database`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let before = try #require(workspace.bytes())
    for arguments in [["get", "1"], ["list"], ["log"], ["listeners"], ["watch", "--timeout", "1ms"], ["init", "-n"]] {
      try workspace.finish([Workspace.tool] + arguments)
      #expect(workspace.bytes() == before, "\(arguments)")
    }
  }

  @Test func `remove needs --yes, and prints a line for every attribute`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=41")
    #expect(try workspace.run("remove", "1").status == 64)
    let outcome = try workspace.run("remove", "NIX", "--yes", "--listener", "A")
    #expect(
      try outcome.summaries.sorted() == [
        "delete 1 age 41>null @A", "delete 1 hair_color null>null @A", "delete 1 name 'NIX'>null @A",
      ])
    #expect(try workspace.run("add", "next").output == "2\n")
  }
}
