import UserStore

/// Writes forever, each user from one task: the first user with blocking writes, the others with awaited ones, so that
/// they share commits.
///
/// A write sets the name, `a`, and `b` of a user to the same number, one more than the last. The embedder prints
/// `ack USER NUMBER` after a write returns, and `received REVISION CHANGES` in a listener. For every `dawdle`th number of
/// the first user, the listener also prints `dawdling NUMBER` and waits for a line of input, so that it can be killed there.
struct Writing {
  private let database: String
  /// The time between two writes of a user, in microseconds.
  private let pause: Int
  private let dawdle: Int
  /// The users, with the first number of each.
  private var starts: [(user: UserStore.User.ID, number: Int)] = []

  /// Parses `DATABASE PAUSE DAWDLE USER=FIRST…`.
  init(_ arguments: [String]) throws {
    guard arguments.count > 3, let pause = Int(arguments[1]), let dawdle = Int(arguments[2]) else { throw Usage() }
    (database, self.pause, self.dawdle) = (arguments[0], pause, dawdle)
    for argument in arguments.dropFirst(3) {
      let parts = argument.split(separator: "=").compactMap { Int($0) }
      guard parts.count == 2 else { throw Usage() }
      starts.append((UserStore.User.ID(Int64(parts[0])), parts[1]))
    }
  }

  func run() async throws {
    var configuration = UserStore.Configuration()
    configuration.access = .readWrite
    configuration.busyTimeout = .seconds(60)
    let store = try UserStore(path: database, configuration: configuration)
    try listen(to: store)
    say("ready")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try write(starts[0].user, from: starts[0].number, to: store) }
      for (user, number) in starts.dropFirst() {
        group.addTask { try await writeAwaiting(user, from: number, to: store) }
      }
      try await group.waitForAll()
    }
  }

  private func listen(to store: UserStore) throws {
    let first = starts[0].user
    store.listeners.bind("torture", to: .everything) { set in
      say("received \(set.revision) \(try set.changes.count)")
      for change in try set.changes where change.user == first && change.attribute == "a" {
        guard set.origin == "embedder", dawdle > 0, let number = try change.new(.a), number % dawdle == 0 else {
          continue
        }
        say("dawdling \(number)")
        _ = readLine()
      }
    }
  }

  private func write(_ user: UserStore.User.ID, from first: Int, to store: UserStore) throws {
    for number in first... {
      try store.write(origin: "embedder") { try Self.change(user, to: number, in: &$0) }
      say("ack \(user) \(number)")
      rest(pause)
    }
  }

  private func writeAwaiting(_ user: UserStore.User.ID, from first: Int, to store: UserStore) async throws {
    for number in first... {
      try await store.write(origin: "embedder") { try Self.change(user, to: number, in: &$0) }
      say("ack \(user) \(number)")
      try await Task.sleep(for: .microseconds(pause))
    }
  }

  private static func change(_ user: UserStore.User.ID, to number: Int, in users: inout UserStore.WriteTransaction)
    throws
  {
    try users.rename(user, to: "embedder-\(number)")
    try users.set(.a, of: user, to: number)
    try users.set(.b, of: user, to: number)
  }
}

extension Attribute where Value == Int {
  static var a: Attribute { Attribute("a") }
  static var b: Attribute { Attribute("b") }
  static var counted: Attribute { Attribute("counted") }
  static var through: Attribute { Attribute("through") }
}
