import Foundation
import Synchronization
import TortureSupport

/// Counts the commits that one process makes and another one receives, on a store of their own and without sabotage.
final class CommitClock {
  private let stage: Stage
  private let follower: Follower
  private let writer: Child

  init(_ programs: Stage.Programs) throws {
    stage = try Stage("clock", programs)
    try stage.tool("init")
    try stage.tool("add", "embedder")
    follower = try Follower(stage, [:])
    // It never dawdles. It prints many lines, which must be read.
    writer = try stage.startEmbedder(["write", stage.database, "0", "0", "1=1"])
    let output = Readable(writer)
    Thread { output.readAll { _ in } }.start()
  }

  deinit {
    writer.send(SIGKILL)
    _ = stage.processes.wait(for: writer)
  }

  var commits: Int { follower.count }
  var hasEnded: String? { follower.hasEnded }
}

/// A process that follows, and whose output is read continuously.
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
    guard child.output.next() == "ready" else { throw TortureError("the follower does not start") }
    let output = Readable(child)
    Thread {
      output.readAll { line in
        state.state.withLock { state in
          state.count += 1
          if line.hasPrefix("received ") { state.last = Int64(line.dropFirst(9)) ?? 0 } else { state.end = line }
        }
      }
      state.state.withLock { if $0.end == nil { $0.end = "a follower has ended" } }
    }.start()
  }

  deinit {
    child.send(SIGKILL)
    _ = stage.processes.wait(for: child)
  }

  var last: Int64 { state.state.withLock { $0.last } }
  var count: Int { state.state.withLock { $0.count } }
  var hasEnded: String? { state.state.withLock { $0.end } }
}

/// A child whose output one thread reads.
///
/// It keeps the child until all is read.
private final class Readable: @unchecked Sendable {
  private let child: Child

  init(_ child: Child) { self.child = child }

  func readAll(_ body: (String) -> Void) {
    while let line = child.output.next() { body(line) }
  }
}
