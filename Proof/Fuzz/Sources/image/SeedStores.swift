import Fuzzing
import UserStore

/// Stores in typical states, as files.
enum SeedStores {
  private static let path = Files.scratch + "/seed.db"

  static func images() throws -> [Image] {
    var images = [Image(plan: 0, database: [])]
    for pageSize in [512, 2_048] {
      images.append(try closed(pageSize) { _ in })
      images.append(try closed(pageSize, fill))
      images.append(try closed(pageSize, compact))
      images.append(try open(pageSize, fill))
    }
    return images.flatMap { image in [0, 0xFF, 0x55].map { Image(plan: $0, database: image.database, wal: image.wal) } }
  }

  private static func make(_ pageSize: Int) throws -> UserStore {
    Files.clear()
    var configuration = UserStore.Configuration()
    configuration.pageSize = pageSize
    configuration.watchesOtherProcesses = false
    return try UserStore(path: path, configuration: configuration)
  }

  /// A store that was closed: one file.
  private static func closed(_ pageSize: Int, _ body: (UserStore) throws -> Void) throws -> Image {
    let store = try make(pageSize)
    try body(store)
    store.close()
    return Image(plan: 0, database: Files.read(path) ?? [])
  }

  /// A store of a process that was killed: the last writes are in the -wal file.
  private static func open(_ pageSize: Int, _ body: (UserStore) throws -> Void) throws -> Image {
    try make(pageSize).close()
    var configuration = UserStore.Configuration()
    configuration.watchesOtherProcesses = false
    let store = try UserStore(path: path, configuration: configuration)
    defer { store.close() }
    try body(store)
    return Image(plan: 0, database: Files.read(path) ?? [], wal: Files.read(path + "-wal") ?? [])
  }

  private static func fill(_ store: UserStore) throws {
    let ids = try store.write { users in
      try ["Zoë", "NIX", "gone"].map { try users.add(name: $0, hairColor: UserStore.Color("auburn")) }
    }
    try store.write { users in
      let values: [StoredValue] = [
        .integer(41), .real(1.5), .text("x"), .blob([0, 255]), .text(String(repeating: "long", count: 800)),
      ]
      for (index, value) in values.enumerated() { try users.set("attribute \(index)", of: ids[0], to: value) }
      try users.rename(ids[1], to: "Nix")
    }
    _ = try store.consumer("sync", from: .oldest)
    try store.write { try $0.remove(ids[2]) }
  }

  private static func compact(_ store: UserStore) throws {
    try fill(store)
    try store.purge(UserStore.User.ID(3))
    let limits = UserStore.RetentionPolicy.Limits(changes: 1)
    _ = try store.compact(keeping: UserStore.RetentionPolicy(limits, consumerLimits: limits))
  }
}
