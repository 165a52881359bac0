import Foundation
import TestSupport
import Testing

/// After the database is replaced in any way, every watch is reset, and no watch continues from a cursor of the old one.
@Suite(.bounded, .serialized) struct `Another lineage` {
  enum Event: String, CaseIterable {
    case restored, moved, copied, created, repaired, rewound

    /// The reset reasons of a running watch and of a watch that resumes.
    var reasons: (live: String, resumed: String) {
      switch self {
      case .restored, .repaired: ("diverged", "diverged")
      // The running watch has the old file open; a watch that opens the new file sees only its log.
      case .moved, .copied, .created, .rewound: ("replaced", "diverged")
      }
    }
  }

  private func happen(_ event: Event, in workspace: Workspace) throws {
    let (other, saved) = (workspace.folder + "/other.db", workspace.folder + "/saved")
    func shell(_ command: String) throws {
      let outcome = try workspace.finish(["sh", "-ec", "cd '\(workspace.folder)'; \(command)"])
      try #require(outcome.status == 0, "\(outcome)")
    }
    switch event {
    case .restored: try #require(workspace.run("restore", saved + "/backup.db", "--yes").status == 0)
    case .moved:
      try workspace.run("--db", other, "add", "Other")
      try shell("rm users.db-wal users.db-shm; mv other.db users.db")
    case .copied:
      // cp removes the old file, which may be in use, and creates a new one.
      try shell("rm users.db-wal users.db-shm; cp --remove-destination saved/backup.db users.db")
    case .created:
      try shell("rm users.db users.db-wal users.db-shm")
      try workspace.run("add", "New")
    case .repaired:
      try workspace.sqlite("DROP TRIGGER users_after_update; UPDATE users SET name = 'unseen'")
      try #require(workspace.run("check", "--repair").status == 0)
    case .rewound:
      // The database is moved last: the watch opens it as soon as it notices the new file.
      try shell("rm users.db-wal users.db-shm; mv saved/users.db-wal .; mv saved/users.db .")
    }
  }

  @Test(arguments: Event.allCases)
  func `running and resumed watches are reset with the reason`(_ event: Event) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    // A careless copy of the pair of files; a writer that has it open leaves commits in the -wal file.
    try FileManager.default.createDirectory(atPath: workspace.folder + "/saved", withIntermediateDirectories: false)
    try workspace.run("backup", workspace.folder + "/saved/backup.db")
    let keeper = try workspace.python(
      "db.execute(\"UPDATE users SET name = 'kept'\"); print('ready', flush=True); sys.stdin.read()")
    #expect(keeper.output.next() == "ready")
    try workspace.finish(["sh", "-c", "cd \(workspace.folder); cp users.db users.db-wal saved"])
    try workspace.run("rename", "1", "taken back", "-q")
    let cursor = try #require(Line.decode(workspace.run("log").lines.last ?? "").cursor)
    let watcher = try workspace.start("watch", "--listener", "A=name", "--no-initial", "--timeout", "60s")
    try watcher.waitUntilWatching()
    try happen(event, in: workspace)
    let reset = try Line.decode(watcher.output.next() ?? "")
    #expect(reset.op == "reset" && reset.reason == event.reasons.live)
    let name = try workspace.run("get", "1", "name").output.dropLast()
    // The current state follows, or, if the new store was still empty when it was opened, its first change.
    let state = try Line.decode(watcher.output.next() ?? "")
    #expect(state.op == (event == .created && state.op == "insert" ? "insert" : "snapshot"))
    #expect(state.user == 1 && state.new.words == "'\(name)'", "\(state)")
    // The second time, as many commits have followed as were lost.
    for _ in 0..<2 {
      let resumed = try workspace.firstLines(1, "watch", "--after", cursor, "--listener", "A=name")
      #expect(try resumed.lines.first.map(Line.decode)?.reason == event.reasons.resumed, "\(resumed)")
      #expect(try workspace.run("watch", "--after", cursor, "--no-resync").status == 6)
      try workspace.sqlite((0..<12).map { "UPDATE users SET name = '\($0)';" }.joined())
    }
    try workspace.run("rename", "1", "last", "-q")
    var received: String?
    while received != "'last'" { received = try Line.decode(watcher.output.next() ?? "{}").new.words }
  }
}
