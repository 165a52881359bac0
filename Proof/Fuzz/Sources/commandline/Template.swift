import Fuzzing
import UserStore

/// The bytes of a store with a few users and a history, with which every input starts.
enum Template {
  static let shared: [UInt8]? = try? make()

  private static func make() throws -> [UInt8] {
    let path = Files.scratch + "/template.db"
    var configuration = UserStore.Configuration()
    configuration.watchesOtherProcesses = false
    let store = try UserStore(path: path, configuration: configuration)
    let (zoe, gone) = try store.write { users in
      (try users.add(name: "Zoë", hairColor: UserStore.Color("auburn")), try users.add(name: "gone"))
    }
    try store.write { users in
      _ = try users.add(name: "7")
      _ = try users.add(name: "twin")
      _ = try users.add(name: "twin")
      try users.set("age", of: zoe, to: .integer(41))
      try users.set("data", of: zoe, to: .blob([0, 255]))
      try users.remove(gone)
    }
    _ = try store.consumer("sync", from: .oldest)
    store.close()
    defer { Files.clear() }
    return Files.read(path) ?? []
  }
}
