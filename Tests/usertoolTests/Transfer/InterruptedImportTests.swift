import Foundation
import TestSupport
import Testing

/// An import that a signal ends in the middle.
@Suite(.bounded, .serialized) struct `An import that is ended` {
  private static let count = 60_000

  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let text = (1...Self.count).map { "{\"name\":\"user \($0)\"}\n" }.joined()
    try workspace.write(Data(text.utf8), to: "in.jsonl")
    return workspace
  }

  private func count(in workspace: Workspace) throws -> Int {
    let text = try workspace.sqlite("SELECT count(*) FROM users").output
    return try #require(Int(text.trimmingCharacters(in: .newlines)), "\(text)")
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGKILL, 137)] as [(Int32, Int32)])
  func `an import that is ended changes nothing`(signal: Int32, status: Int32) throws {
    let workspace = try makeWorkspace()
    let before = try workspace.dump()
    let importer = try workspace.start("import", workspace.folder + "/in.jsonl")
    // The import is in the middle when it has the write lock.
    while try workspace.run("add", "x", "--busy-timeout", "0s", "-n").status == 0 {}
    importer.send(signal)
    #expect(importer.wait() == status)
    let message = String(decoding: importer.errors.rest(), as: UTF8.self)
    #expect(message == (signal == SIGKILL ? "" : "stopped: nothing was changed\n"))
    #expect(try workspace.dump() == before)
    #expect(try workspace.sqlite("PRAGMA integrity_check").output == "ok\n")
  }

  @Test(arguments: [(SIGINT, 130), (SIGKILL, 137)] as [(Int32, Int32)])
  func `an import with batches that is ended keeps whole batches`(signal: Int32, status: Int32) throws {
    let workspace = try makeWorkspace()
    let importer = try workspace.start("import", workspace.folder + "/in.jsonl", "--batch", "100")
    while try count(in: workspace) < 301 {}
    importer.send(signal)
    #expect(importer.wait() == status)
    let left = try count(in: workspace) - 1
    #expect(left % 100 == 0 && left >= 300 && left < Self.count, "\(left)")
    if signal == SIGINT {
      let message = String(decoding: importer.errors.rest(), as: UTF8.self)
      #expect(message == "stopped: the \(left) users up to line \(left) were imported\n")
    }
  }

  @Test func `an import that is ended while it waits for its input says that nothing was changed`() throws {
    let workspace = try Workspace()
    let pipe = workspace.folder + "/pipe"
    try #require(try workspace.finish(["mkfifo", pipe]).status == 0)
    let importer = try workspace.start("import", pipe, "--format", "jsonl")
    // The pipe can be opened for writing when the import has opened it.
    let writer = try workspace.start(["sh", "-c", "exec 3>'\(pipe)'; echo open; sleep 60"])
    #expect(writer.output.next() == "open")
    importer.send(SIGINT)
    #expect(importer.wait() == 130)
    #expect(String(decoding: importer.errors.rest(), as: UTF8.self) == "stopped: nothing was changed\n")
    #expect(workspace.bytes() == nil)
    writer.send(SIGKILL)
  }

  @Test func `after Ctrl-C at a question, the shell's prompt is on a line of its own`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let session = try TerminalSession(
      ["remove", "1"], columns: 80, rows: 24, in: workspace, [.wait(for: "[y/N] "), .type("\u{3}")])
    #expect(session.status == 130 && String(decoding: session.output, as: UTF8.self).hasSuffix("[y/N] ^C\r\n"))
  }
}
