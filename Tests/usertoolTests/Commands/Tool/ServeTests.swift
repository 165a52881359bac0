import Foundation
import TestSupport
import Testing

/// `usertool serve`, with a script in the place of userserver.
@Suite(.bounded, .serialized) struct Serving {
  private let workspace: Workspace

  init() throws { workspace = try Workspace() }

  /// Copies the tool into a folder, in which there may be a userserver.
  private func installed() throws -> String {
    let folder = workspace.folder + "/bin"
    try workspace.finish(["mkdir", "-p", folder])
    try workspace.finish(["cp", Workspace.tool, folder])
    return folder
  }

  /// Writes a script as another process: a program cannot run while any process has it open for writing, and one that another
  /// test starts inherits what this process has open.
  private func write(_ script: String, to folder: String) throws {
    let line = #"mkdir -p "$2" && printf '#!/bin/sh\n%s' "$1" > "$2/userserver" && chmod 755 "$2/userserver""#
    try workspace.finish(["sh", "-c", line, "sh", script, folder])
  }

  private func serve(_ folder: String, _ arguments: String..., path: String = "/usr/bin:/bin") throws
    -> Workspace.Outcome
  {
    try workspace.finish([folder + "/usertool", "serve"] + arguments, ["PATH": path])
  }

  @Test func `the userserver beside the tool runs in its place, with all arguments and its exit code`() throws {
    let folder = try installed()
    try write("printf '<%s>' \"$@\"; exit 66", to: folder)
    let outcome = try serve(folder, "--db", "it's mine.db", "--help", "")
    #expect(outcome.output == "<--db><it's mine.db><--help><>")
    #expect(outcome.status == 66)
  }

  @Test func `userserver opens a database on a server itself, without usertool-postgres`() throws {
    let folder = try installed()
    try write("printf '<%s>' \"$@\" \"$USERTOOL_DB\"", to: folder)
    let outcome = try workspace.finish(
      [folder + "/usertool", "serve", "--db", "postgres://x/y"],
      ["PATH": "/usr/bin:/bin", "USERTOOL_DB": "postgres://a/b"])
    #expect(outcome.output == "<--db><postgres://x/y><postgres://a/b>", "\(outcome)")
  }

  @Test func `a userserver in PATH runs if there is none beside the tool`() throws {
    let folder = try installed()
    try write("echo elsewhere", to: workspace.folder + "/other")
    let outcome = try serve(folder, path: "/nowhere:\(workspace.folder)/other:/usr/bin:/bin")
    #expect(outcome.output == "elsewhere\n")
  }

  @Test(arguments: ["", "trap '' HUP INT TERM PIPE; ", "trap '' INT; "])
  func `userserver gets the signals as if it had been started without the tool`(trap: String) throws {
    let folder = try installed()
    try write("exec cat /proc/self/status", to: folder)
    func masks(_ outcome: Workspace.Outcome) -> [UInt64] {
      let lines = outcome.lines.filter { ["SigBlk", "SigIgn", "SigCgt"].contains($0.prefix(6)) }
      // Not 32 and 33, which the C library uses for itself.
      return lines.compactMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) }.map { $0 & 0x7fff_ffff }
    }
    let start = ["sh", "-c", trap + "exec \"$0\" \"$@\""]
    let direct = masks(try workspace.finish(start + [folder + "/userserver"]))
    #expect(direct.count == 3)
    let served = masks(try workspace.finish(start + [folder + "/usertool", "serve"], ["PATH": "/usr/bin:/bin"]))
    #expect(served == direct)
  }

  @Test func `without userserver, the message says how to get it`() throws {
    let outcome = try serve(try installed())
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("userserver is not installed") && outcome.errors.contains("scripts/install"))
  }
}
