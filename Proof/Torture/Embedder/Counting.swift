import UserStore

/// Counts the changes of all other writers exactly once, because it writes the sum and the position together.
///
/// `counted` is the sum, and `through` is the revision of the last set in it. It prints `counted REVISION` after each write.
struct Counting {
  private let database: String
  private let user: UserStore.User.ID

  /// Parses `DATABASE USER`.
  init(_ arguments: [String]) throws {
    guard arguments.count == 2, let user = Int64(arguments[1]) else { throw Usage() }
    (database, self.user) = (arguments[0], UserStore.User.ID(user))
  }

  func run() async throws {
    var configuration = UserStore.Configuration()
    configuration.access = .readWrite
    configuration.busyTimeout = .seconds(60)
    let store = try UserStore(path: database, configuration: configuration)
    let counter = try await store.consumer("counter", from: .oldest)
    say("ready")
    for try await set in counter where set.origin != "counter" {
      let (user, count, revision) = (user, try set.changes.count, Int(set.revision.rawValue))
      try await store.write(origin: "counter") { users in
        try users.set(.counted, of: user, to: (try users.value(.counted, of: user) ?? 0) + count)
        try users.set(.through, of: user, to: revision)
        try counter.acknowledge(set, in: &users)
      }
      say("counted \(revision)")
    }
  }
}
