import ArgumentParser
import CFloor
import Dispatch
import Foundation
import UserStore

/// The other process of the latency cases, which receives stamps and prints their ages.
struct Follow: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  static let ready = "ready\n"

  enum Way: String, ExpressibleByArgument { case userstore, polling }

  @Argument var way: Way
  @Argument var path: String

  func run() throws {
    let ages =
      switch way {
      case .userstore: try listen()
      case .polling: try poll()
      }
    for age in ages { print(Int64(age.nanoseconds)) }
  }

  private func sayReady() { FileHandle.standardOutput.write(Data(Self.ready.utf8)) }

  private func listen() throws -> [Duration] {
    var configuration = UserStore.Configuration()
    configuration.access = .readOnly
    let store = try UserStore(path: path, configuration: configuration)
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
}
