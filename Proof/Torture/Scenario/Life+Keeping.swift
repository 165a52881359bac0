import Glibc
import Synchronization
import TortureSupport
import UserStore

/// Group commits, foreign writes, and maintenance.
extension Life {
  /// Writes that share a commit.
  func writeGroup(of size: Int) async {
    guard let store = opened() else { return }
    let planned = (0..<size).map { _ in nextWrite() }
    for write in planned { say(.begun(write.name)) }
    let results = await Self.together(planned, on: store)
    for (name, error) in results where error == nil { say(written(name)) }
    failed(results.compactMap { name, error in error.map { (name, $0) } })
  }

  private static func together(
    _ planned: [PlannedWrite], on store: UserStore
  ) async -> [(name: String, error: (any Error)?)] {
    let queued = Tally()
    return await withTaskGroup { group in
      for (index, write) in planned.enumerated() {
        group.addTask { @concurrent () -> (name: String, error: (any Error)?) in
          do {
            if index > 0 { queued.increment() }
            try await store.write(origin: write.name) { users in
              // The first one waits in its transaction for the others to queue up.
              if index == 0 { queued.wait(until: planned.count - 1) }
              try write.perform(in: &users)
            }
            return (write.name, nil)
          } catch { return (write.name, error) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Writes as a program without the library does.
  func writeForeign() {
    let name = nextName("f")
    attempt(name) { _ in
      let connection = try PlainConnection(options.database, busyTimeout: 5_000)
      try connection.run("INSERT INTO users (name) VALUES (?)", [.text(Array("\(name):".utf8))])
      return [.done(name)]
    }
  }

  func backUp(replacing isReplacing: Bool) {
    let path = options.folder + "/backup.db"
    attempt("backup") { store in
      let cursor = try store.backup(to: path, replacing: isReplacing)
      return [.backedUp(path: path, cursor: cursor.description), .done("backup")]
    }
  }

  func compact() {
    attempt("compact") { store in
      let limits = UserStore.RetentionPolicy.Limits(changes: 14)
      let compaction = try store.compact(keeping: UserStore.RetentionPolicy(limits, consumerLimits: limits))
      return [.compacted(compaction.horizon.rawValue), .done("compact")]
    }
  }

  /// Makes an attribute unique, whose values all differ.
  func makeUnique() {
    attempt("unique") { store in
      try store.addUnique(on: "last")
      return [.done("unique")]
    }
  }

  /// Adds a user, removes it, and purges it.
  func purge() {
    let (added, removed) = (nextName("w"), nextName("w"))
    // An id that no later write adds again.
    let user = UserStore.User.ID(1_000)
    var (isAdded, isRemoved) = (false, false)
    attempt(added) { store in
      try store.write(origin: added) { _ = try $0.add([("name", .text("\(added):secret"))], as: user) }
      isAdded = true
      return [written(added)]
    }
    if !isAdded { return }
    attempt(removed) { store in
      try store.write(origin: removed) { try $0.remove(user) }
      isRemoved = true
      return [written(removed)]
    }
    if !isRemoved { return }
    say(.purging(user.rawValue))
    attempt("purge") { store in
      try store.purge(user)
      return [.purged(user.rawValue), .done("purge")]
    }
  }
}

private final class Tally: Sendable {
  private let count = Mutex(0)

  func increment() { count.withLock { $0 += 1 } }

  /// Waits at most a moment: an incomplete group is not a failure.
  func wait(until wanted: Int) {
    for _ in 0..<100 where count.withLock({ $0 }) < wanted { usleep(20) }
    usleep(50)
  }
}
