import CFloor
import Dispatch
import Foundation
import UserStore

/// Many writers at once with synced writes, which shows the benefit of shared commits.
enum Concurrency {
  static func cases(_ effort: Effort) -> [Case] {
    let contenders = [1, 8, 64]
    return [
      Case(
        name: "concurrency/tasks", operation: "one write by tasks that await each write, full",
        contenders: contenders.map(storeTasks) + contenders.map(grdbTasks)),
      Case(
        name: "concurrency/threads", operation: "one write by threads that wait for each write, full",
        contenders: contenders.map(storeThreads) + contenders.map(grdbThreads)),
    ]
  }

  private static func storeTasks(_ writers: Int) -> Contender {
    Contender(name: "UserStore, \(writers) tasks") { folder in
      let store = try Fixture.store(in: folder, users: writers, .full)
      return passes(writers) { turns in
        try Waiting.run {
          try await everyTask(writers, turns) { user, name in
            try await store.write { _ = try $0.rename(UserStore.User.ID(user), to: name) }
          }
        }
      }
    }
  }

  private static func grdbTasks(_ writers: Int) -> Contender {
    Contender(name: "GRDB, \(writers) tasks") { folder in
      let grdb = try GRDBStore(Fixture.file(in: folder, users: writers, isLogged: false), isFull: true)
      return passes(writers) { turns in
        try Waiting.run { try await everyTask(writers, turns) { try await grdb.renameLater($0, to: $1) } }
      }
    }
  }

  private static func storeThreads(_ writers: Int) -> Contender {
    Contender(name: "UserStore, \(writers) threads") { folder in
      let store = try Fixture.store(in: folder, users: writers, .full)
      return passes(writers) { turns in
        try everyThread(writers, turns) { user, name in
          try store.write { _ = try $0.rename(UserStore.User.ID(user), to: name) }
        }
      }
    }
  }

  private static func grdbThreads(_ writers: Int) -> Contender {
    Contender(name: "GRDB, \(writers) threads") { folder in
      let grdb = try GRDBStore(Fixture.file(in: folder, users: writers, isLogged: false), isFull: true)
      return passes(writers) { turns in try everyThread(writers, turns) { try grdb.rename($0..<$0 + 1, to: $1) } }
    }
  }

  // MARK: Writers

  /// Gives each writer its share of the writes.
  private static func passes(_ writers: Int, _ run: @escaping (Range<Int>) throws -> Void) -> Measured {
    var done = 0
    return .passes(ofEach: writers) { count in
      try run(done..<done + count)
      done += count
    }
  }

  private static func everyTask(
    _ writers: Int, _ turns: Range<Int>, _ write: @escaping @Sendable (Int64, String) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in 1...writers {
        group.addTask { for turn in turns { try await write(Int64(user), "turn \(turn)") } }
      }
      try await group.waitForAll()
    }
  }

  private static func everyThread(
    _ writers: Int, _ turns: Range<Int>, _ write: @escaping @Sendable (Int64, String) throws -> Void
  ) throws {
    let ended = DispatchSemaphore(value: 0)
    let failures = Failures()
    for user in 1...writers {
      Thread.detachNewThread {
        do { for turn in turns { try write(Int64(user), "turn \(turn)") } } catch { failures.add(error) }
        ended.signal()
      }
    }
    for _ in 1...writers { ended.wait() }
    try failures.throwFirst()
  }
}
