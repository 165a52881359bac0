import CFloor
import UserStore

/// The files that contenders start with, all with the library's schema, so that the tables are the same.
enum Fixture {
  /// Creates a file with the users from 1 to `users`, and returns its path.
  ///
  /// The users are added without triggers. If the file is logged, the library restores the triggers and starts a new log.
  /// If not, the file stays without triggers, for contenders that write no log. `sql` adds attributes.
  static func file(in folder: String, users: Int, isLogged: Bool, adding sql: String = "") throws -> String {
    let path = folder + "/users.db"
    try UserStore(path: path).close()
    try execute(dropTriggers + insertUsers(users) + ";" + sql, on: path)
    if isLogged { try UserStore(path: path).close() }
    return path
  }

  /// Opens a store on such a file.
  static func store(
    in folder: String, users: Int, _ durability: UserStore.Configuration.Durability, watches: Bool = true,
    adding sql: String = ""
  ) throws
    -> UserStore
  {
    try open(file(in: folder, users: users, isLogged: true, adding: sql), durability, watches: watches)
  }

  static func open(_ path: String, _ durability: UserStore.Configuration.Durability, watches: Bool = true) throws
    -> UserStore
  {
    var configuration = UserStore.Configuration()
    configuration.durability = durability
    configuration.watchesOtherProcesses = watches
    return try UserStore(path: path, configuration: configuration)
  }

  static func execute(_ sql: String, on path: String) throws {
    try expect(Int(floor_execute(path, sql)), 0, "SQLite's code for \(sql)")
  }

  private static let triggers = [
    "users_before_insert", "users_after_insert", "users_before_update", "users_after_update",
    "users_after_update_color", "users_after_delete", "displaced_users_key", "displaced_users_gone",
    "displaced_attributes_key", "displaced_attributes_gone", "attributes_need_user", "attributes_before_insert",
    "attributes_after_insert", "attributes_before_update", "attributes_after_delete", "changes_before_delete",
  ]

  private static let dropTriggers = triggers.map { "DROP TRIGGER \($0);" }.joined()

  private static func insertUsers(_ count: Int) -> String {
    """
    INSERT INTO users (name, hair_color)
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < \(count))
      SELECT 'user ' || number, '#a52a2a' FROM numbers
    """
  }
}
