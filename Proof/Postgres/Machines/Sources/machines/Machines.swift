import Foundation
import Synchronization
import UserStore
import UserStorePostgres

/// One process on one machine: writes to a store, or listens to it.
@main struct Machines {
  static let usage = """
    usage: machines fill USERS                 adds users, each with the attribute count
           machines lone SECONDS               writes one after the other, with an inline listener; prints µs and writes a second
           machines tasks NUMBER SECONDS       writes in that many tasks at a time; prints writes a second
           machines write COUNT NUMBER         writes that often in each of that many tasks, with an inline listener
           machines stamp COUNT MILLISECONDS   writes 1, 2, 3 … at that interval; prints each number and when its write returned
           machines listen COUNT               prints the numbers that stamp writes, and when a listener received each
           machines follow COUNT               does the same with a feed
           machines idle SECONDS               follows other processes and does nothing
    The address of the database is in $ADDRESS. Times are nanoseconds since 1970.
    """

  static let count = Attribute<Int>("count")

  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    let numbers = words.dropFirst().compactMap { Int($0) }
    let address = ProcessInfo.processInfo.environment["ADDRESS"] ?? ""
    var configuration = PostgresConfiguration(address)
    configuration.store.watchesOtherProcesses = ["listen", "follow", "idle"].contains(words.first)
    switch (words.first, numbers.count) {
    case ("fill", 1): try fill(UserStore(postgres: configuration), numbers[0])
    case ("lone", 1): try lone(UserStore(postgres: configuration), .seconds(numbers[0]))
    case ("tasks", 2): try await tasks(UserStore(postgres: configuration), numbers[0], .seconds(numbers[1]))
    case ("write", 2): try await write(UserStore(postgres: configuration), numbers[0], numbers[1])
    case ("stamp", 2): try stamp(UserStore(postgres: configuration), numbers[0], .milliseconds(numbers[1]))
    case ("listen", 1): try listen(UserStore(postgres: configuration), numbers[0])
    case ("follow", 1): try await follow(UserStore(postgres: configuration), numbers[0])
    case ("idle", 1): try idle(UserStore(postgres: configuration), .seconds(numbers[0]))
    default:
      FileHandle.standardError.write(Data((usage + "\n").utf8))
      exit(64)
    }
  }

  /// Prints a line at once, also into a file.
  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  static func fill(_ store: UserStore, _ users: Int) throws {
    try store.write { transaction in
      for number in 1...users {
        let user = try transaction.add(name: "user \(number)")
        try transaction.set(count, of: user, to: 0)
      }
    }
  }

  static func lone(_ store: UserStore, _ time: Duration) throws {
    let user = UserStore.User.ID(1)
    let listenable = try store.listenable(count, of: user)
    let delivered = Atomic(0)
    listenable.bind("lone") { _ in delivered.add(1, ordering: .relaxed) }
    var times: [Duration] = []
    let clock = ContinuousClock()
    let start = clock.now
    while clock.now - start < time {
      let number = times.count + 1
      times.append(try clock.measure { try store.write { try $0.set(count, of: user, to: number) } })
    }
    precondition(delivered.load(ordering: .relaxed) == times.count)
    let elapsed = clock.now - start
    times.sort()
    print(Int(times[times.count / 2] / .microseconds(1)), Int(Double(times.count) / (elapsed / .seconds(1))))
  }

  static func tasks(_ store: UserStore, _ number: Int, _ time: Duration) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let writes = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 1...number {
        group.addTask {
          var writes = 0
          while clock.now - start < time {
            let value = writes
            try await store.write { try $0.set(count, of: UserStore.User.ID(Int64(task)), to: value) }
            writes += 1
          }
          return writes
        }
      }
      return try await group.reduce(0, +)
    }
    print(Int(Double(writes) / ((clock.now - start) / .seconds(1))))
  }

  static func write(_ store: UserStore, _ writes: Int, _ number: Int) async throws {
    try await store.listenable(count, of: UserStore.User.ID(1)).bind("write") { _ in }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 1...number {
        group.addTask {
          for value in 1...writes {
            try await store.write { try $0.set(count, of: UserStore.User.ID(Int64(task)), to: value) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  static func stamp(_ store: UserStore, _ number: Int, _ interval: Duration) throws {
    var lines: [String] = []
    for value in 1...number {
      try store.write { try $0.set(count, of: UserStore.User.ID(1), to: value) }
      lines.append("\(value) \(now)")
      Thread.sleep(forTimeInterval: interval / .seconds(1))
    }
    print(lines.joined(separator: "\n"))
  }

  static func listen(_ store: UserStore, _ number: Int) throws {
    let lines = Mutex<[String]>([])
    let isDone = DispatchSemaphore(value: 0)
    let token = try store.listenable(count, of: UserStore.User.ID(1)).bind("listen") { value in
      let time = now
      guard let value else { return }
      lines.withLock { $0.append("\(value) \(time)") }
      if value == number { isDone.signal() }
    }
    say("listening")
    isDone.wait()
    withExtendedLifetime(token) {}
    print(lines.withLock { $0.joined(separator: "\n") })
  }

  static func follow(_ store: UserStore, _ number: Int) async throws {
    let start = try await store.read { try $0.cursor }
    say("listening")
    var lines: [String] = []
    for try await set in store.changeSets(after: start) {
      let time = now
      for change in try set.changes {
        if case .integer(let value) = change.new { lines.append("\(value) \(time)") }
      }
      if lines.count >= number { break }
    }
    print(lines.joined(separator: "\n"))
  }

  static func idle(_ store: UserStore, _ time: Duration) throws {
    try store.listenable(count, of: UserStore.User.ID(1)).bind("idle") { _ in }
    say("idle")
    Thread.sleep(forTimeInterval: time / .seconds(1))
  }
}
