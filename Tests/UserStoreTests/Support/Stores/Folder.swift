import Foundation
import TestSupport

@testable import UserStore

/// A folder for one test, removed when this object is released, and the programs that write into it from outside.
final class Folder: Sendable {
  let path: String

  init() throws {
    path = try Files.canonical(Files.createTemporaryFolder())
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a new file.
  func file(_ name: String, holding text: String = "") throws -> String {
    let file = path + "/" + name
    try Files.createPrivate(file)
    if !text.isEmpty { try Data(text.utf8).write(to: URL(filePath: file)) }
    return file
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
  }

  /// The number of this process's descriptors that are open on files in this folder.
  func openDescriptors() throws -> Int {
    let manager = FileManager.default
    let targets = try manager.contentsOfDirectory(atPath: "/proc/self/fd").map {
      try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }
    return targets.count { $0?.hasPrefix(path + "/") == true }
  }

  /// The path of the test's store.
  var database: String { path + "/users.db" }

  func open(_ change: (inout Configuration) -> Void = { _ in }) throws -> UserStore {
    var configuration = Configuration()
    configuration.durability = .normal
    change(&configuration)
    if TestEngine.isPostgres {
      let name = path.split(separator: "/").last.map(String.init) ?? "folder"
      return try TestEngine.store(in: name.lowercased().replacing("-", with: "_"), configuration)
    }
    return try UserStore(path: database, configuration: configuration)
  }

  /// A connection without anything of the library on top.
  func plain() throws -> Connection {
    try Connection(path: database, access: .readWrite, busyTimeout: 5_000)
  }

  /// A session on a connection of its own.
  func session() throws -> SQLiteSession { SQLiteSession(try plain()) }

  /// Runs SQL in the sqlite3 shell.
  @discardableResult
  func shell(_ sql: String, _ file: String? = nil) throws -> String {
    try Program.run("sqlite3", ["-cmd", ".timeout 5000", file ?? database, sql])
  }

  /// Runs Python with the path as `path` and an open connection as `db`.
  @discardableResult
  func python(_ script: String) throws -> String {
    let prologue = """
      import os, signal, sqlite3, sys, threading, time
      path = sys.argv[1]
      db = sqlite3.connect(path, timeout=30, isolation_level=None)

      """
    return try Program.run(Child.python, ["-c", prologue + script, database])
  }

  func mode(of name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return (attributes[.posixPermissions] as? Int ?? 0) & 0o777
  }
}
