import Foundation
import GRDB
import UserStore

/// Keeps the users of a store equal in another SQLite database, until SIGTERM: `mirror users.db mirror.db`.
///
/// The mirror has the cursor of the last change set that it contains, and each set is written in one transaction together with
/// its cursor. So a kill at any moment neither loses a change nor makes one twice.
@main
struct Mirror {
  let store: UserStore
  let database: DatabaseQueue

  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
      print("usage: mirror users.db mirror.db")
      exit(64)
    }
    // A mistyped path is an error, not a new store.
    var configuration = UserStore.Configuration()
    configuration.access = .readWrite
    let store = try await UserStore.open(path: arguments[1], configuration: configuration)
    let mirror = try Mirror(store: store, database: DatabaseQueue(path: arguments[2]))

    let following = Task { try await mirror.follow() }
    signal(SIGTERM, SIG_IGN)
    let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
    termination.setEventHandler { following.cancel() }
    termination.resume()
    let result = await following.result
    await store.close()
    do { try result.get() } catch is CancellationError {}
  }

  /// Copies the changes after the mirror's cursor, then new ones as they are committed.
  func follow() async throws {
    try await prepare()
    // The store keeps its log for a named consumer, up to the limits of its retention policy. Each mirror of a store needs a
    // name of its own.
    let consumer = try await store.consumer("mirror")
    var saved = try await database.read { mirror in
      try String.fetchOne(mirror, sql: "SELECT cursor FROM position").map { try UserStore.Cursor($0) }
    }
    while true {
      do {
        var cursor = if let saved { saved } else { try await copy() }
        // The consumer's own position may be behind the mirror's: acknowledgments are written a little later.
        try await consumer.reset(to: cursor)
        for try await set in consumer {
          try await apply(set, after: cursor)
          cursor = set.cursor
          try await consumer.acknowledge(set)
        }
        return
      } catch StoreError.Code.compacted, StoreError.Code.diverged {
        // The log does not continue after the mirror's cursor.
        saved = nil
      }
    }
  }

  func prepare() async throws {
    try await database.write { mirror in
      // The column for values has no type, so that SQLite converts none of them.
      try mirror.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS attributes (
            user INTEGER NOT NULL, name TEXT NOT NULL, value NOT NULL, PRIMARY KEY (user, name)) WITHOUT ROWID;
          CREATE TABLE IF NOT EXISTS position (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
          """)
    }
  }

  /// Replaces the mirror by all users, and returns the cursor at which they were read.
  func copy() async throws -> UserStore.Cursor {
    try await database.write { [store] mirror in
      try store.read { users in
        try mirror.execute(sql: "DELETE FROM attributes")
        try users.forEachUser { user in
          for (attribute, value) in user.storedValues { try set(attribute, of: user.id, to: value, in: mirror) }
        }
        let cursor = try users.cursor
        try mirror.execute(sql: "INSERT OR REPLACE INTO position VALUES (1, ?)", arguments: [cursor.description])
        return cursor
      }
    }
  }

  /// Makes the changes of a set; a huge one is read page by page.
  func apply(_ changes: UserStore.ChangeSet, after cursor: UserStore.Cursor) async throws {
    try await database.write { mirror in
      try mirror.execute(
        sql: "UPDATE position SET cursor = ? WHERE cursor = ?",
        arguments: [changes.cursor.description, cursor.description])
      // An older process may still be writing after a newer one has taken over.
      guard mirror.changesCount == 1 else { throw StoreError(.superseded, "another process writes to the mirror") }
      try changes.forEach { change in try set(change.attribute, of: change.user, to: change.new, in: mirror) }
    }
  }

  func set(_ attribute: AttributeName, of user: UserStore.User.ID, to value: StoredValue, in mirror: Database) throws {
    if value.isNull {
      let delete = try mirror.cachedStatement(sql: "DELETE FROM attributes WHERE user = ? AND name = ?")
      try delete.execute(arguments: [user.rawValue, attribute.text])
    } else {
      let insert = try mirror.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO attributes VALUES (:user, :name, CASE WHEN :isText THEN CAST(:value AS TEXT) ELSE :value END)
          """)
      let (isText, value) = value.columns
      try insert.execute(
        arguments: ["user": user.rawValue, "name": attribute.text, "isText": isText, "value": value])
    }
  }
}

extension StoredValue {
  /// The value for GRDB, and whether it is text as bytes: GRDB ends a `String` at its first NUL character.
  var columns: (isText: Bool, value: any DatabaseValueConvertible) {
    switch self {
    case .null: (false, DatabaseValue.null)
    case .integer(let integer): (false, integer)
    case .real(let real): (false, real)
    case .text(let text): (true, Data(text.utf8))
    case .invalidText(let bytes): (true, Data(bytes))
    case .blob(let bytes): (false, Data(bytes))
    }
  }
}
