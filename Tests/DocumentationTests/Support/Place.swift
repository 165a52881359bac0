import Foundation
import Testing
import UserStore
import UserStorePostgres

/// Where the examples of the README run.
enum Place: CaseIterable, Sendable {
  case file, server

  /// A server only within `scripts/postgres run`.
  static let present = ProcessInfo.processInfo.environment["USERSTORE_POSTGRES"] == nil ? [file] : allCases

  /// Passes a new store.
  func withStore(_ body: (UserStore) async throws -> Void) async throws {
    let name = "t" + UUID().uuidString.replacing("-", with: "").lowercased()
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store: UserStore
    switch self {
    case .file: store = try UserStore(path: path)
    case .server:
      let process = try Process.run(URL(filePath: "/usr/bin/env"), arguments: ["createdb", name])
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
      store = try UserStore(postgres: PostgresConfiguration("postgres:///\(name)"))
    }
    try await body(store)
    await store.close()
  }
}
