import Testing
import UserStore

/// Runs the examples of the article “Unique attributes”.
@Suite struct UniqueAttributesArticle {
  @Test func `the examples do what the article says`() throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    let nix = try store.write { users in
      try users.set(.email, of: users.add(name: "Zoë"), to: "zoe@x.de")
      return try users.add(name: "NIX")
    }

    try store.addUnique(on: "email", ignoringCase: true)

    do {
      try store.write { try $0.set(.email, of: nix, to: "ZOE@x.de") }
    } catch let error as StoreError where error.code == .notUnique {
      print(error.message)
      print("the other one:", error.notUnique?.user?.description ?? "-")
    }
    #expect(printed.taken() == ["user 2 cannot have the email “ZOE@x.de”: user 1 has it", "the other one: 1"])

    let zoe = try store.user(where: .email, is: "Zoe@x.de")
    #expect(try zoe?.name == "Zoë")

    try store.write { users in
      for id in [UserStore.User.ID(1), nix] { try users.set("city", of: id, to: .text("Kiel")) }
    }
    for (value, users) in try store.read({ try $0.duplicates(of: "city") }) { print(value, users.map(\.description)) }
    #expect(printed.taken() == [#"text("Kiel") ["1", "2"]"#])
  }
}
