import Foundation
import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// Files of a replica and of its server, as the first code of version 8 wrote them.
///
/// `USERSTORE_GOLDEN=FOLDER` writes them, for a later version; those that are there stay.
@Suite(.timeLimit(.minutes(1))) struct GoldenReplicaTests {
  private static let golden = URL(filePath: #filePath).appending(path: "../../Golden").standardized.path
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "userstore-golden-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func open(_ name: String) throws -> UserStore {
    try UserStore(path: "\(folder)/\(name).db", configuration: SimulatedServer.configuration)
  }

  @Test func `a replica goes on with its server`() async throws {
    for name in ["server", "replica"] {
      try SimulatedFile.copy("\(Self.golden)/layout8-\(name).db", to: "\(folder)/\(name).db")
    }
    let (server, copy) = (try open("server"), try open("replica"))
    #expect(try await copy.users().map { try $0.name } == ["NIX", "Zoë"])
    let before = try await copy.read { try $0.cursor }
    let replica = try UserStoreSync.Replica(
      of: copy, from: DirectTransport(to: SyncService(server)), users: .all, writes: .none)
    #expect(replica.state.value == .following(behind: 0))
    try await replica.catchUp()
    let users = try await server.users()
    #expect(try await copy.users() == users)
    #expect(try users.map { try $0.name } == ["NIX", "佐江", "late"])
    // It has followed, and not copied.
    let sets = try await copy.changeSets(after: before).prefix(2).reduce(into: []) { $0.append($1.origin) }
    #expect(sets == ["app", nil])
    #expect(try await copy.check().filter { $0.severity == .problem }.isEmpty)
    #expect(try await server.read { try $0.session.server()?.purged } == [3])
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["USERSTORE_GOLDEN"] != nil))
  func `writes the files`() async throws {
    let (server, copy) = (try open("server"), try open("replica"))
    let service = try SyncService(server)
    try await server.write { users in
      for name in ["NIX", "Zoë", "Ann"] { _ = try users.add(name: name) }
      try users.set(AttributeName("photo"), of: User.ID(1), to: .blob([0, 255]))
    }
    try await UserStoreSync.Replica(of: copy, from: DirectTransport(to: service), writes: .none).catchUp()
    try await server.write { try $0.remove(User.ID(3)) }
    try await server.purge(User.ID(3))
    try await UserStoreSync.Replica(of: copy, from: DirectTransport(to: service), writes: .none).catchUp()
    try await server.write(origin: "app") { try $0.rename(User.ID(2), to: "佐江") }
    try await server.write { _ = try $0.add(name: "late") }
    let target = try #require(ProcessInfo.processInfo.environment["USERSTORE_GOLDEN"])
    for (store, name) in [(server, "server"), (copy, "replica")] {
      await store.close()
      try SimulatedFile.copy("\(folder)/\(name).db", to: "\(target)/layout8-\(name).db")
    }
  }
}
