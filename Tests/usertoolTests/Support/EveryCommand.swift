import ArgumentParser
import Foundation
import Testing

@testable import UserToolCommands

/// Command lines of every command, which change nothing, and a database for them.
enum EveryCommand {
  struct Line: Sendable, CustomStringConvertible {
    let words: [String]
    let status: Int32

    init(_ line: String, _ status: Int32 = 0) {
      words = line.split(separator: " ").map(String.init)
      self.status = status
    }

    var description: String { words.joined(separator: " ") }
  }

  /// At least one line for each command.
  static let lines: [Line] = [
    Line("init"), Line("add 日本語のとても長い名前 --set note=日本語 --dry-run"), Line("get 1"), Line("get 3"), Line("get 1 name"),
    Line("get 99", 3), Line("list"), Line("list --sort note:desc --limit 2"), Line("list --count"),
    Line("list --where age=>18", 64), Line("list --follow --timeout 1ms", 124),
    Line("list --count --follow --timeout 1ms", 124), Line("rename 1 Zoé --dry-run"), Line("set 1 age=42 --dry-run"),
    Line("rename-attribute age years --dry-run"),
    Line("remove 1 --dry-run"), Line("watch --timeout 1ms", 124), Line("watch --initial all --timeout 1ms", 124),
    Line("watch --per-change --timeout 1ms", 124), Line("log"), Line("log --limit 3"),
    Line("post invited --about 1 --dry-run"), Line("undo --dry-run"),
    Line("consumers"), Line("index"), Line("unique"), Line("unique add age --dry-run"), Line("listeners"),
    Line("backup b.db --dry-run"), Line("restore u.db --dry-run"),
    Line("check"), Line("compact --dry-run"), Line("purge 2 --dry-run"), Line("export"), Line("export --format csv"),
    Line("import u.jsonl --dry-run"), Line("follow http://127.0.0.1:9", 4),
    Line("replicas http://127.0.0.1:9", 1), Line("sync", 65), Line("sync refusals", 65), Line("serve", 1), Line("demo"),
    Line("completion bash"), Line("man"),
  ]

  /// A database with a color, wide names, many attributes, a consumer, an index, and a removed user.
  static func makeWorkspace() throws -> Workspace { try Workspace(files.get()) }

  private static let files = Result {
    let workspace = try Workspace()
    let further = (1...9).flatMap { ["--set", "attribute\($0)=\($0)"] }
    let long = String(repeating: "Wolfeschlegelstein", count: 3)
    try workspace.run("add", "日本語日本語日本語", "--hair-color", "auburn", "--set", "age=41")
    try workspace.run("add", "gone")
    try workspace.finish([Workspace.tool, "add", long, "--set", "note=👨‍👩‍👧 café"] + further)
    try workspace.run("remove", "2", "--yes")
    try workspace.run("set", "1", "age=9223372036854775807")
    try workspace.sqlite("INSERT INTO consumers SELECT 'sync', epoch, 5, 0, 0, 0 FROM meta")
    try workspace.run("index", "add", "age")
    try workspace.run("unique", "add", "email")
    try workspace.run("backup", workspace.folder + "/u.db")
    try workspace.run("export", workspace.folder + "/u.jsonl")
    return try workspace.files()
  }

  /// The words of a line, with the paths of the workspace's files.
  static func words(_ line: Line, in workspace: Workspace) -> [String] {
    line.words.map { ["b.db", "u.db", "u.jsonl"].contains($0) ? workspace.folder + "/" + $0 : $0 }
  }

  /// The commands that have no line.
  static var missing: [String] {
    let commands = Set(lines.map { $0.words[0] })
    return UserTool.configuration.subcommands.map { $0._commandName }.filter { !commands.contains($0) }
  }
}
