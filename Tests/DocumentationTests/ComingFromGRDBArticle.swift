import Testing
import UserStore

/// Runs the examples of the article “Coming from GRDB”.
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

  @Test func `an observed request is a list`() throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    try store.write { users in
      let user = try users.add(name: "NIX")
      try users.set(.score, of: user, to: 18)
      try users.set(.score, of: try users.add(name: "Tim"), to: 17)
    }

    let list = try store.list(UserStore.Query(where: .score >= 18, sortedBy: [.ascending(.name)], limit: 50))
    list.bindAndFire("Scores", on: .latestOnMain) { rows in print(try rows.map { try $0.name }) }

    #expect(printed.taken() == ["[\"NIX\"]"])
  }
}

extension Attribute where Value == Int {
  fileprivate static var score: Attribute { Attribute("score") }
}
