import CFloor
import UserStore

/// The works of `Count` with lists.
enum CountLists {
  /// As many that no row changes twice in both runs.
  private static func users(_ count: Int) -> Int { max(5_000, count * 2 + 1_000) }

  private static func store(_ folder: TemporaryFolder, _ count: Int) throws -> UserStore {
    try Fixture.store(in: folder.path, users: users(count), .normal, watches: false)
  }

  /// A write of one row, with the list or with a listener of the user.
  static func write(_ change: RowChange, _ count: Int, isFollowed: Bool = true) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let store = try store(folder, count)
    if change == .enter {
      try store.write { users in
        for turn in 0..<count * 2 {
          try users.set(.hairColor, of: UserStore.User.ID(RowChange.user(turn, of: Self.users(count))), to: .null)
        }
      }
    }
    let screen = isFollowed ? ListScreen(try store.list(ListRequest.query)) : nil
    if !isFollowed {
      for turn in 0..<count * 2 {
        let user = UserStore.User.ID(RowChange.user(turn, of: users(count)))
        store.listeners.bind("screen", to: .attribute(.hairColor, of: user)) { _ in }
      }
    }
    var turn = 0
    return {
      for _ in 0..<count {
        try change.write(turn, of: users(count), store)
        turn += 1
      }
      withExtendedLifetime(folder) {}
      if let screen { try expect(screen.steps, turn, "steps") }
    }
  }

  static func changes(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let store = try store(folder, count)
    let list = try store.list(ListRequest.query)
    var versions = [list.value]
    for turn in 0..<count {
      try RowChange.move.write(turn, of: users(count), store)
      versions.append(list.value)
    }
    return {
      for (old, new) in zip(versions, versions.dropFirst()) {
        try expect(new.rowChanges(from: old).steps.count, 1, "steps")
      }
    }
  }

  static func many(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let (store, screens) = try Lists.manyLists(folder.path, 10_000, .normal, watches: false)
    var names = Names()
    return {
      for _ in 0..<count { try store.rename(1, to: names.next()) }
      withExtendedLifetime((folder, screens)) {}
    }
  }

  static let readRows = 5_000

  static func read(_ count: Int, _ read: @escaping (UserStore) throws -> Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(in: folder.path, users: readRows, .normal, watches: false)
    return {
      for _ in 0..<count / readRows { try expect(read(store), readRows, "rows") }
      withExtendedLifetime(folder) {}
    }
  }

  static func readInC(_ count: Int, _ read: @escaping (Floor) -> Int64) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let file = try Fixture.file(in: folder.path, users: readRows, isLogged: true)
    let floor = try Floor(file, isFull: false, FLOOR_PLAIN)
    return {
      for _ in 0..<count / readRows { try expect(Int(read(floor)), readRows, "rows") }
      withExtendedLifetime(folder) {}
    }
  }

  static func find(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(
      in: folder.path, users: readRows, .normal, watches: false, adding: Lists.addNumbers)
    try store.addIndex(on: "number")
    return {
      for number in 1...count {
        let query = UserStore.Query(where: .number == number, showing: [.name])
        try expect(store.read { try $0.users(matching: query).count }, 1, "users")
      }
      withExtendedLifetime(folder) {}
    }
  }

  static func findInC(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let path = try Fixture.file(in: folder.path, users: readRows, isLogged: true, adding: Lists.addNumbers)
    let store = try Fixture.open(path, .normal)
    try store.addIndex(on: "number")
    store.close()
    let floor = try Floor(path, isFull: false, FLOOR_PLAIN)
    return {
      for number in 1...count { try expect(floor.query(Lists.findSQL, number), 1, "users") }
      withExtendedLifetime(folder) {}
    }
  }

  static func set(_ count: Int, isFollowed: Bool) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let write = try Lists.hugeSets(folder.path, 1_000, 100, isFollowed: isFollowed, watches: false)
    return {
      try write(count / 100)
      withExtendedLifetime(folder) {}
    }
  }
}
