import ArgumentParser
import CFloor
import Dispatch
import Foundation
import UserStore

/// The other process of a case, which receives stamps and prints their ages, or follows with lists and prints its memory.
struct Follow: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  static let ready = "ready\n"

  enum Way: String, ExpressibleByArgument { case userstore, polling, samePlan, lists, peak, replica }

  @Argument var way: Way
  @Argument var path: String
  /// The server of a replica.
  @Argument var address = ""

  func run() throws {
    switch way {
    case .userstore: show(try listen())
    case .polling: show(try poll())
    case .samePlan: show(try followInC())
    case .replica:
      let arrivals = Arrivals()
      try Replicas.follow(path, address, arrivals, ready: sayReady)
      show(arrivals.take())
    case .lists: try ListsMillion.follow(open(), ready: sayReady)
    case .peak: try ListsMillion.follow(untilEndOf: open(), ready: sayReady)
    }
    if way == .lists || way == .peak { print(try Memory.peak(of: getpid())) }
  }

  private func show(_ ages: [Duration]) { for age in ages { print(Int64(age.nanoseconds)) } }

  private func sayReady() { FileHandle.standardOutput.write(Data(Self.ready.utf8)) }

  private func open() throws -> UserStore {
    var configuration = UserStore.Configuration()
    configuration.access = .readOnly
    return try UserStore(path: path, configuration: configuration)
  }

  private func listen() throws -> [Duration] {
    let store = try open()
    let arrivals = Arrivals()
    let name = try store.listenable(.name, of: UserStore.User.ID(1))
    let ended = DispatchSemaphore(value: 0)
    name.bind("screen") { name in
      arrivals.add(name)
      if name == Stamp.end { ended.signal() }
    }
    sayReady()
    ended.wait()
    withExtendedLifetime(name) {}
    return arrivals.take()
  }

  /// Polls every millisecond, as an application does without notifications, and sees only the last of several writes.
  private func poll() throws -> [Duration] {
    let floor = try Floor(path, isFull: false, FLOOR_PLAIN)
    var version = floor_data_version(floor.handle)
    let arrivals = Arrivals()
    sayReady()
    var name: String?
    while name != Stamp.end {
      while floor_data_version(floor.handle) == version { usleep(1_000) }
      version = floor_data_version(floor.handle)
      let current = floor_name(floor.handle, 1).map { String(cString: $0) }
      // The version also changes after a checkpoint.
      if current != name { arrivals.add(current) }
      name = current
    }
    return arrivals.take()
  }

  /// The library's statements and calls of the system, without the library.
  private func followInC() throws -> [Duration] {
    let floor = try Floor(path, isFull: false, FLOOR_LOG)
    let events = floor_watch(floor.handle)
    guard events >= 0 else { throw WorkNotDone(description: "C cannot watch \(path)-wal") }
    let arrivals = Arrivals()
    sayReady()
    var name: String?
    while name != Stamp.end {
      guard let value = floor_wait_for_value(floor.handle, events) else {
        throw WorkNotDone(description: "C cannot read the log of \(path)")
      }
      name = String(cString: value)
      arrivals.add(name)
    }
    return arrivals.take()
  }
}
