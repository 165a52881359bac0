import Foundation
import GRDB
import NIOCore
import NIOPosix
import UserStore
import UserStoreFoundation
import UserStoreText
import _NIOFileSystem

/// Uses each of them once, so that the linker must find them all.
@main
struct Neighbors {
  static func main() async throws {
    let store = try UserStore.temporary()
    let zoe = try await store.write { users in try users.add(name: "Zoë") }
    let name = try await store.read { users in try users.user(zoe)?.name }

    let queue = try DatabaseQueue()
    let version = try await queue.read { database in try String.fetchOne(database, sql: "SELECT sqlite_version()") }

    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let answer = try await group.next().submit { 42 }.get()
    let info = try await FileSystem.shared.info(forFileAt: "/")
    try await group.shutdownGracefully()

    print(EveryName.types.count, "public types")
    print(name ?? "nobody", version ?? "no SQLite", answer, info?.type == .directory)
    await store.close()
  }
}
