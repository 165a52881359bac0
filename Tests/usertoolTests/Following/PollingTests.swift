import Foundation
import TestSupport
import Testing

/// The system has no file events left.
@Suite(.bounded, .serialized, .enabled(if: Limits.canBeSet, "this process may not create a user namespace"))
struct `Watching without file events` {
  @Test(arguments: ["max_inotify_instances", "max_inotify_watches"])
  func `a watch without file events reports it once, and prints the same lines`(limit: String) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try Limits.start(
      limit, [Workspace.tool, "watch", "--listener", "A=name", "--no-initial", "--timeout", "300s"], workspace)
    #expect(watcher.errors.next()?.hasPrefix("file events are not available") == true)
    #expect(watcher.errors.next()?.hasPrefix("watching all users") == true)
    var expected: [String] = []
    var current = "NIX"
    for number in 1...10 {
      for writer in ["tool", "shell"] {
        let next = "\(writer)-\(number)"
        if writer == "tool" {
          try workspace.run("rename", "1", next)
        } else {
          try workspace.sqlite("UPDATE users SET name = '\(next)'")
        }
        expected.append("update 1 name '\(current)'>'\(next)' @A")
        current = next
      }
    }
    #expect(try watcher.output.next(expected.count).map { try Line.decode($0).summary } == expected)
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
    #expect(watcher.errors.rest().split(separator: 0x0A).count == 1, "only the message where it stopped")
  }

  @Test func `missing file events are not reported with --quiet, nor if there are file events`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let quiet = try Limits.start(
      "max_inotify_instances", [Workspace.tool, "watch", "-q", "--timeout", "2s"], workspace)
    #expect(quiet.wait() == 124 && quiet.errors.rest().isEmpty)
    #expect(try !workspace.run("watch", "--timeout", "2s").errors.contains("file events"))
  }
}

/// A user namespace, in which limits of the system can be set without affecting other processes.
enum Limits {
  static let canBeSet: Bool = {
    guard let workspace = try? Workspace(), let child = try? start("max_inotify_instances", ["true"], workspace) else {
      return false
    }
    return child.wait() == 0
  }()

  /// Starts a program with the limit set to 0.
  static func start(_ limit: String, _ command: [String], _ workspace: Workspace) throws -> Child {
    let script = "echo 0 > /proc/sys/user/\(limit) && exec \"$@\""
    return try workspace.start(["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"] + command)
  }
}
