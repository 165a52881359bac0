import Foundation
import UserStore

@testable import UserStoreSync

/// A server of replicas in a folder of its own, which is removed with this.
final class SyncFixture: Sendable {
  let folder: String
  let server: UserStore
  let service: SyncService

  init() throws {
    folder = NSTemporaryDirectory() + "userstore-replica-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    server = try UserStore(path: folder + "/server.db", configuration: SimulatedServer.configuration)
    service = try SyncService(server)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Adds the server's first user.
  func addNIX() async throws -> User.ID {
    try await server.write { try $0.add([(.name, .text("NIX")), ("age", .integer(7))]) }
  }

  /// Opens another store in the folder.
  func open(_ name: String = "replica") throws -> UserStore {
    try UserStore(path: "\(folder)/\(name).db", configuration: SimulatedServer.configuration)
  }
}
