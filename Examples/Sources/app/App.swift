import Foundation
import Observation
import UserStore

extension Attribute where Value == Int {
  static var age: Attribute { Attribute("age") }
}

/// The model of a view that shows a user's name.
@MainActor final class Header {
  private(set) var title = ""

  init(_ name: Listenable<String?>) {
    // Only the latest name matters. Binding “header” again replaces this listener, and releasing the model ends it.
    name.bindAndFire("header", on: .latestOnMain, owner: self) { header, name in header.title = name ?? "gone" }
  }
}

/// The model of a form with two text fields.
@MainActor @Observable final class Form {
  var name = ""
  var age = ""

  /// Connects each field with its attribute, in both directions; an age that is not set is an empty field.
  init(_ user: UserStore.User.ID, in store: UserStore) {
    BindingChain("name field", onError: refuse).bind(store, .name, of: user).bind(self, \.name)
    BindingChain("age field", onError: refuse).bind(store, .age, of: user).bind(self, \.age)
  }

  private func refuse(_ error: BindingError) {
    // Closing the store removes its attributes from the chains.
    if case .left = error.reason { return }
    print("refused:", error)
  }
}

@main @MainActor
struct App {
  let header: Header
  let form: Form
  let card: ObservableUser

  /// An error at the top level would end the program with a trap and a register dump.
  static func main() async {
    do { try await run() } catch {
      print("error:", error)
      exit(1)
    }
  }

  static func run() async throws {
    let store = try UserStore.temporary()
    let nix = try await store.write { users in try users.add(name: "NIX") }
    let name = try await store.listenable(.name, of: nix)
    let app = App(header: Header(name), form: Form(nix, in: store), card: try await store.observable(nix))
    await app.show("opened") { app.form.name == "NIX" }

    app.form.age = "36"
    await app.show("typed 36") { app.card[.age] == 36 }

    app.form.age = "old"
    await app.show("typed old") { app.form.age == "36" }

    app.form.age = ""
    await app.show("emptied the field") { app.card[.age] == nil }

    // Stands for a write of another process; each view receives both changes.
    try await store.write { users in
      try users.rename(nix, to: "Zoë")
      try users.set(.age, of: nix, to: 41)
    }
    await app.show("written elsewhere") {
      app.header.title == "Zoë" && app.form.name == "Zoë" && app.form.age == "41" && app.card.name == "Zoë"
    }

    let count = store.listeners.count
    let again = Header(name)
    print("entered the screen again: header \(again.title), new listeners: \(store.listeners.count - count)")

    await search(store)
    await store.close()
  }

  /// Searches after a pause of 300 ms, by a clock that the program moves.
  static func search(_ store: UserStore) async {
    let clock = ManualClock()
    let (field, text) = Signal<String>.make()
    var found: [UserStore.User.ID]?
    let token = text.debounce(for: .milliseconds(300), clock: clock)
      .flatMapLatest { name in
        print("searching for \(name)")
        return try await store.read { users in try users.ids(named: name) }
      }
      .subscribe(on: .main) { ids in found = ids }
    for keys in ["Z", "Zo", "Zoë"] {
      field.send(keys)
      clock.advance(by: .milliseconds(100))
    }
    clock.advance(by: .milliseconds(200))
    while found == nil { await Task.yield() }
    print("found users \(found ?? [])")
    token.dispose()
  }

  /// Prints the contents of the views after a change; in an app, the views display them.
  func show(_ event: String, when isShown: () -> Bool) async {
    while !isShown() { await Task.yield() }
    let age = card[.age].map { "\($0)" } ?? "unset"
    print("\(event): header \(header.title), form [\(form.name)] [\(form.age)], card \(card.name ?? "gone") \(age)")
  }
}
