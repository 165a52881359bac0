import Foundation
import Testing
import UserStore

/// Runs the example of the article “A store per tenant”.
@Suite(.timeLimit(.minutes(5))) struct AStorePerTenantArticle {
  @Test func `tasks that want a tenant at the same time share one store, until it is closed`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let tenants = Tenants(folder: folder)
    let stores = try await withThrowingTaskGroup(of: UserStore.self) { group in
      for _ in 1...10 { group.addTask { try await tenants.store(of: "acme") } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let first = try #require(stores.first)
    #expect(stores.allSatisfy { $0 === first })

    await tenants.close("acme")
    #expect(throws: StoreError.self) { try first.read { try $0.count() } }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["acme.db"])
    let again = try await tenants.store(of: "acme")
    #expect(again !== first)
    await tenants.close("acme")
  }
}

actor Tenants {
  private let folder: String
  private var stores: [String: Task<UserStore, any Error>] = [:]

  init(folder: String) { self.folder = folder }

  func store(of tenant: String) async throws -> UserStore {
    let path = "\(folder)/\(tenant).db"
    let opening = stores[tenant] ?? Task { try await UserStore.open(path: path) }
    stores[tenant] = opening
    do { return try await opening.value } catch {
      stores[tenant] = nil  // the next task tries again
      throw error
    }
  }

  func close(_ tenant: String) async {
    guard let opening = stores.removeValue(forKey: tenant) else { return }
    await (try? opening.value)?.close()
  }
}
