import Foundation
import TestSupport
import UserStore

/// Where a simulated server keeps its records.
protocol SimulatedDatabase {
  func open() throws -> UserStore
  func connect() throws -> any PlainSQL
  func backUp(_ server: SimulatedServer, as number: Int) throws
  /// Restores a backup as the engine's users do, which begins a new epoch, or by putting the old database in the place of the new one.
  func restore(_ server: SimulatedServer, from number: Int, asFile: Bool) throws
  /// Statements of a program without the library about a user, in one transaction.
  func foreignStatements(_ kind: Int, of user: Int64, number: Int) -> [String]
  func remove()
}

/// A file of SQLite.
struct SimulatedFile: SimulatedDatabase {
  private let folder: String
  private var path: String { folder + "/server.db" }

  init(in folder: String) { self.folder = folder }

  func open() throws -> UserStore { try UserStore(path: path, configuration: SimulatedServer.configuration) }

  func connect() throws -> any PlainSQL {
    let connection = try PlainConnection(path, busyTimeout: 1_000)
    try connection.script("PRAGMA recursive_triggers = OFF")
    return connection
  }

  func backUp(_ server: SimulatedServer, as number: Int) throws {
    try server.store.backup(to: backup(number), ignoringProblems: true)
  }

  func restore(_ server: SimulatedServer, from number: Int, asFile: Bool) throws {
    if asFile {
      try server.whileClosed { try Self.copy(backup(number), to: path) }
    } else {
      try server.store.restore(from: backup(number), ignoringProblems: true)
    }
  }

  private func backup(_ number: Int) -> String { "\(folder)/backup\(number).db" }

  func foreignStatements(_ kind: Int, of user: Int64, number: Int) -> [String] {
    let statements = [
      "UPDATE users SET name = CAST(X'ff0\(number)' AS TEXT) WHERE id = \(user)",
      "REPLACE INTO users (id, name) VALUES (\(user), 'replaced')",
      "REPLACE INTO attributes (user_id, name, value) VALUES (\(user), 'a', CAST(X'c3' AS TEXT))",
      "UPDATE attributes SET value = value || 'x' WHERE user_id = \(user) AND typeof(value) = 'text'",
      "DELETE FROM attributes WHERE user_id = \(user)", "DELETE FROM users WHERE id = \(user)",
    ]
    return [statements[kind], "UPDATE users SET hair_color = '#00000' || (id % 10)"]
  }

  func remove() {}

  /// Copies a file that nobody has open.
  static func copy(_ source: String, to target: String) throws {
    for addition in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: target + addition) }
    try? FileManager.default.removeItem(atPath: target)
    try FileManager.default.copyItem(atPath: source, toPath: target)
  }
}
