import Testing

@Suite(.bounded, .serialized) struct `The width of lists` {
  /// The output of a command on a terminal of the given width.
  private func lines(_ arguments: String, columns: Int, in workspace: Workspace) throws -> [String] {
    let command = "stty cols \(columns); '\(Workspace.tool)' --color never \(arguments)"
    let outcome = try workspace.finish(["script", "-qec", command, "/dev/null"], ["TERM": "xterm"])
    return outcome.output.split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test func `a long name is cut only on a terminal`() throws {
    let workspace = try Workspace()
    let long = String(repeating: "Wolfeschlegelstein", count: 10)
    try workspace.run("add", long, "--hair-color", "red")
    try workspace.run("add", "Zoë", "--hair-color", "red")
    let lines = try lines("list", columns: 40, in: workspace)
    #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 40 }, "\(lines)")
    #expect(lines[1].hasPrefix(" 1  Wolfeschlegel") && lines[1].hasSuffix("…  #ff0000"), "\(lines)")
    let piped = try workspace.run("list", "--format", "table").lines
    #expect(piped[1] == " 1  " + long + "  #ff0000")
    #expect(try self.lines("list --format plain", columns: 40, in: workspace)[0].contains(long))
  }

  @Test func `attributes that do not fit are folded into one column`() throws {
    let workspace = try Workspace()
    let values = (10..<40).flatMap { ["--set", "attribute\($0)=\($0)"] }
    try workspace.finish([Workspace.tool, "add", "NIX"] + values)
    try workspace.run("add", "Zoë", "--set", "attribute39=x")
    let lines = try lines("list", columns: 80, in: workspace)
    #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    #expect(lines[0].hasSuffix("attribute10  attribute11  attribute12  MORE"), "\(lines)")
    #expect(lines[1].contains("10           11           12  attribute13=13  ") && lines[1].hasSuffix("…"), "\(lines)")
    #expect(lines[2].hasSuffix("  attribute39=x"), "\(lines)")
    #expect(try workspace.run("list", "--format", "table").lines[0].hasSuffix("attribute39"))
  }

  @Test func `get prints a record that is too wide with one line per field`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=41")
    #expect(try lines("get 1", columns: 80, in: workspace).count == 2)
    let lines = try lines("get 1", columns: 20, in: workspace)
    #expect(lines == ["ID          1", "NAME        NIX", "HAIR COLOR  ", "age         41"], "\(lines)")
  }
}
