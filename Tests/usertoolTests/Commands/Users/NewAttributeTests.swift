import Testing

@Suite(.bounded, .serialized) struct `Attributes that nobody had` {
  @Test func `set creates a new attribute, and notes it on standard error`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=41")
    for (given, known) in [("hair_colour=red", "hair_color"), ("agee=5", "age")] {
      let outcome = try workspace.run("set", "1", given)
      let name = given.prefix { $0 != "=" }
      let note = "new attribute \"\(name)\": no user had it before (did you mean \"\(known)\"?)\n"
      #expect(outcome.status == 0 && outcome.errors == note, "\(outcome)")
      #expect(try workspace.run("get", "1", String(name)).status == 0)
    }
    #expect(try workspace.run("set", "1", "room=7").errors == "new attribute \"room\": no user had it before\n")
  }

  @Test func `an attribute is new only once`() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("add", "NIX", "--set", "room=7").errors.contains("new attribute \"room\""))
    for arguments in [["set", "1", "room=8"], ["add", "Zoë", "--set", "room=7"], ["set", "1", "--unset", "hall"]] {
      let outcome = try workspace.finish([Workspace.tool] + arguments)
      #expect(outcome.status == 0 && !outcome.errors.contains("new attribute"), "\(outcome)")
    }
    #expect(try workspace.run("set", "2", "room=9", "name=Zoe", "hair-color=red").errors.isEmpty)
  }

  @Test func `a dry run notes a new attribute, --quiet does not, and its name is escaped`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    #expect(try workspace.run("set", "1", "room=8", "-n").errors.contains("new attribute \"room\""))
    #expect(try workspace.run("add", "x", "--set", "room=8", "-n").errors.contains("new attribute \"room\""))
    #expect(try workspace.run("set", "1", "room=8", "-q").errors.isEmpty)
    let hostile = try workspace.run("set", "1", "\u{202E}=8").errors
    #expect(hostile.contains("new attribute \"\\u{202E}\""), "\(hostile)")
  }
}
