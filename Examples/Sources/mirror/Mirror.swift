import Foundation
import GRDB
import UserStore

/// Mirrors the users of a store in another SQLite database, until SIGINT or SIGTERM: `mirror users.db mirror.db`.
///
/// The mirror contains the cursor of the last change set that it has applied; each set and its cursor are written in one
/// transaction. A kill at any moment therefore neither loses a change nor applies one twice. While another program locks one of
/// the databases, the mirror waits.
@main
struct Mirror {
  let store: UserStore
  let database: DatabaseQueue

  /// An error at the top level would end the program with a trap and a register dump.
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
      report("usage: mirror users.db mirror.db")
      exit(64)
    }
    do { try await run(from: arguments[1], to: arguments[2]) } catch {
      report("error: \(error)")
      exit(1)
    }
  }

  static func run(from path: String, to target: String) async throws {
    // A mistyped path is an error, not a new store.
    var configuration = UserStore.Configuration()
    configuration.access = .readWrite
    let store = try await UserStore.open(path: path, configuration: configuration)
    // By default, GRDB does not wait: a reader of the mirror at the moment of a commit would make it fail.
    var waiting = GRDB.Configuration()
    waiting.busyMode = .timeout(5)
    let following: Task<Void, any Error>
    do {
      let mirror = try Mirror(store: store, database: DatabaseQueue(path: target, configuration: waiting))
      following = Task { try await mirror.followPersistently() }
    } catch {
      await store.close()
      throw error
    }
    let signals = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { following.cancel() }
      source.resume()
      return source
    }
    let result = await following.result
    // The last iteration of the loop is complete.
    await store.close()
    withExtendedLifetime(signals) {}
    do { try result.get() } catch is CancellationError {}
  }

  static func report(_ message: String) { FileHandle.standardError.write(Data("mirror: \(message)\n".utf8)) }

  /// Follows the store until the task is canceled, even after another program has locked a database for longer than the timeout.
  func followPersistently() async throws {
    while true {
      do { return try await follow() } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        Self.report("another program keeps the mirror locked; trying again")
      } catch StoreError.Code.busy {
        Self.report("another program keeps the store locked; trying again")
      }
      // The failed set was not acknowledged, so the next iteration begins with it.
      try Task.checkCancellation()
    }
  }

  /// Copies the changes after the mirror's cursor, then new ones as they are committed.
  func follow() async throws {
    try await prepare()
    // The store keeps its log for a named consumer, up to the limits of its retention policy. Each mirror needs its own name.
    let consumer = try await store.consumer("mirror")
    var saved = try await database.read { mirror in
      try String.fetchOne(mirror, sql: "SELECT cursor FROM position").map { try UserStore.Cursor($0) }
    }
    while true {
      do {
        var cursor = if let saved { saved } else { try await copy() }
        // The consumer's own position may be behind the mirror's, because acknowledgments are written a little later.
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
      // Without a type, SQLite converts no value of the column.
      try mirror.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS attributes (
            user INTEGER NOT NULL, name TEXT NOT NULL, value NOT NULL, PRIMARY KEY (user, name)) WITHOUT ROWID;
          CREATE TABLE IF NOT EXISTS position (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL);
          """)
    }
  }

  /// Replaces the contents of the mirror by all users; returns the cursor of that state.
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

  /// Applies the changes of a set; a huge one is read page by page.
  func apply(_ changes: UserStore.ChangeSet, after cursor: UserStore.Cursor) async throws {
    try await database.write { mirror in
      try mirror.execute(
        sql: "UPDATE position SET cursor = ? WHERE cursor = ?",
        arguments: [changes.cursor.description, cursor.description])
      // After a newer process has taken over, an older one may still be writing.
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
  /// The value for GRDB, and whether it is text in the form of bytes: GRDB ends a `String` at its first NUL character.
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
