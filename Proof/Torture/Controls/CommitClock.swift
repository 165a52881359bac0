import Foundation
import Synchronization
import TortureSupport

/// Counts the commits that two sound processes make and tell on a store of their own.
final class CommitClock {
  private let stage: Stage
  private let follower: Follower
  private let writer: Child

  init(_ programs: Stage.Programs) throws {
    stage = try Stage("clock", programs)
    try stage.tool("init")
    try stage.tool("add", "embedder")
    follower = try Follower(stage, [:])
    // Its listener dawdles at no number; its output is many lines, which somebody must read.
    writer = try stage.startEmbedder(["write", stage.database, "0", "0", "1=1"])
    let output = Readable(writer)
    Thread { output.readAll { _ in } }.start()
  }

  deinit {
    writer.send(SIGKILL)
    _ = stage.brood.wait(for: writer)
  }

  var commits: Int { follower.count }
  var hasEnded: String? { follower.hasEnded }
}

/// A following process, read as it goes.
final class Follower {
  private struct State {
    var last: Int64 = 0
    var count = 0
    var end: String?
  }

  private let stage: Stage
  private let child: Child
  private let state: Shared

  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  init(_ stage: Stage, _ environment: [String: String]) throws {
    self.stage = stage
    let child = try stage.startEmbedder(["follow", stage.database], environment)
    self.child = child
    let state = Shared()
    self.state = state
    guard child.output.next() == "ready" else { throw TortureError("the follower does not begin") }
    let output = Readable(child)
    Thread {
      output.readAll { line in
        state.state.withLock { state in
          state.count += 1
          if line.hasPrefix("told ") { state.last = Int64(line.dropFirst(5)) ?? 0 } else { state.end = line }
        }
      }
      state.state.withLock { if $0.end == nil { $0.end = "a follower has ended" } }
    }.start()
  }

  deinit {
    child.send(SIGKILL)
    _ = stage.brood.wait(for: child)
  }

  var last: Int64 { state.state.withLock { $0.last } }
  var count: Int { state.state.withLock { $0.count } }
  var hasEnded: String? { state.state.withLock { $0.end } }
}

/// Read by one thread only, which holds its process until all is read.
private final class Readable: @unchecked Sendable {
  private let child: Child

  init(_ child: Child) { self.child = child }

  func readAll(_ body: (String) -> Void) {
    while let line = child.output.next() { body(line) }
  }
}
