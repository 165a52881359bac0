import Testing
import UserStore

/// Runs the example of the article “Coming from GRDB”.
@Suite @MainActor struct ComingFromGRDBArticle {
  @Test func `an observed value is a listenable`() throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    let user = try store.write { try $0.add(name: "NIX") }

    let name = try store.listenable(.name, of: user)
    name.bindAndFire("NameScreen", on: .main) { name in print(name ?? "gone") }

    #expect(printed.taken() == ["NIX"])
  }
}
