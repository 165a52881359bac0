import Foundation
import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// Files of a replica and of its server, as the first code of versions 8 and 9 wrote them.
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

  @Test(arguments: [8, 9]) func `a replica goes on with its server`(since layout: Int) async throws {
    try copyFiles(of: layout)
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
    #expect(try PlainConnection(folder + "/replica.db").value("PRAGMA user_version") == 9)
  }

  private func copyFiles(of layout: Int) throws {
    for name in ["server", "replica"] {
      try SimulatedFile.copy("\(Self.golden)/layout\(layout)-\(name).db", to: "\(folder)/\(name).db")
    }
  }

  @Test func `a replica that was only followed can be written from then on`() async throws {
    try copyFiles(of: 8)
    let (server, copy) = (try open("server"), try open("replica"))
    let replica = try UserStoreSync.Replica(
      of: copy, from: DirectTransport(to: SyncService(server)), users: .all, writes: .queued)
    #expect(replica.state.value == .following(behind: 0))
    try await copy.write { try $0.rename(User.ID(1), to: "own") }
    try await replica.catchUp()
    #expect(try await server.user(User.ID(1))?.name == "own")
  }

  @Test func `what was undecided is sent, and what was refused is still there`() async throws {
    try copyFiles(of: 9)
    try SimulatedFile.copy("\(Self.golden)/layout9-queued.db", to: "\(folder)/queued.db")
    let (server, copy) = (try open("server"), try open("queued"))
    let replica = try UserStoreSync.Replica(
      of: copy, from: DirectTransport(to: SyncService(server)), users: .all, writes: .queued)
    #expect(replica.pending.value == 2)
    for try await refusal in replica.refusals {
      #expect(refusal.reason == .conflict)
      #expect(refusal.changes.map(\.new) == [.text("refused")])
      break
    }
    try await replica.catchUp()
    #expect(replica.pending.value == 0)
    #expect(try await server.users().map { try $0.name }.sorted() == ["NIX", "added offline", "late", "offline"])
    #expect(try await server.users() == copy.users())
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
    // After the files of version 8, which end here.
    let queued = try open("queued")
    let replica = try UserStoreSync.Replica(of: queued, from: DirectTransport(to: service), writes: .queued)
    try await replica.catchUp()
    try await queued.write { try $0.set(.name, of: User.ID(2), to: .text("refused"), expecting: .text("佐江")) }
    try await server.write { try $0.rename(User.ID(2), to: "elsewhere") }
    try await replica.catchUp()
    try await server.write { try $0.rename(User.ID(2), to: "佐江") }
    try await queued.write { try $0.rename(User.ID(2), to: "offline") }
    _ = try await queued.write { try $0.add(name: "added offline") }
    _ = try await replica.takeIn()
    let target = try #require(ProcessInfo.processInfo.environment["USERSTORE_GOLDEN"])
    for (store, name) in [(server, "server"), (copy, "replica"), (queued, "queued")] {
      await store.close()
      try SimulatedFile.copy("\(folder)/\(name).db", to: "\(target)/layout9-\(name).db")
    }
  }
}
