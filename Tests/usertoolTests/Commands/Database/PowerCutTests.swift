import TestSupport
import Testing

/// Files and names that must be on disk when a command ends.
///
/// The torture simulates power cuts; these tests cover the syncs that it, and a review of the system calls, found missing.
@Suite(.bounded, .serialized) struct `What a power cut must not take` {
  let workspace: Workspace

  init() throws {
    workspace = try Workspace()
  }

  private func trace(_ arguments: String...) throws -> Trace { try Trace(arguments, in: workspace) }

  @Test func `folders that are created for a database are synced`() throws {
    workspace.database = workspace.folder + "/one/two/users.db"
    let trace = try trace("add", "Zoë")
    #expect(trace.has("sync .", after: "mkdir one"), "\(trace.calls)")
    #expect(trace.has("sync one", after: "mkdir one/two"), "\(trace.calls)")
  }

  @Test func `the name of a new cursor file is synced`() throws {
    try workspace.run("add", "Zoë")
    let path = workspace.folder + "/kept/cursor"
    try workspace.finish(["mkdir", workspace.folder + "/kept"])
    let writer = try workspace.start([
      "sh", "-c", "until [ -e '\(path)' ]; do sleep 0.01; done; exec '\(Workspace.tool)' rename 1 Nix -q",
    ])
    let calls = try trace("watch", "--cursor-file", path, "--no-initial", "--count", "1").calls
    #expect(writer.wait() == 0)
    // The file that takes its place has the same name.
    let first = try #require(calls.firstIndex(of: "rename kept/cursor"), "\(calls)")
    #expect(calls[first...].contains("sync kept"), "\(calls)")
  }

  @Test func `the name of an export is synced`() throws {
    try workspace.run("add", "Zoë")
    let trace = try trace("export", workspace.folder + "/users.jsonl")
    #expect(trace.has("sync .", after: "rename users.jsonl"), "\(trace.calls)")
  }

  @Test func `a purge syncs the -wal file after it has cut it`() throws {
    try workspace.run("add", "Zoë")
    try workspace.run("add", "Nix")
    try workspace.run("remove", "1", "--yes")
    // While another process has the database open, closing it at the end of the command syncs nothing.
    let watcher = try workspace.start("watch")
    try watcher.waitUntilWatching()
    // The -wal file is longer than what the purge leaves in it.
    try workspace.run("set", "2", "note=" + String(repeating: "x", count: 20_000))
    let trace = try trace("purge", "1", "--yes")
    #expect(trace.has("sync users.db-wal", after: "cut users.db-wal"), "\(trace.calls)")
  }
}
