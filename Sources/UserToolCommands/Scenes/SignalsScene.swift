import UserStore

/// A field's text as a signal, chained requests that depend on it, and no objects left at the end.
struct SignalsScene {
  let stage: Stage

  func play() async throws {
    let store = try Stage.makeStore()
    try await store.write { users in
      try users.add(name: "Ada", hairColor: Color("auburn"))
      try users.add(name: "Zoë", hairColor: Color("black"))
    }
    try playField()
    try await playRequests(store)
  }

  // MARK: A field

  private func playField() throws {
    try stage.announce("A field's text is a signal; a label subscribes to it, in capitals and without repetitions.")
    let field = Field()
    let label = StageLabel("label", stage)
    let token = field.text.signal.map { $0.uppercased() }.removeDuplicates().subscribe { label.show($0) }
    showCount()
    for text in ["z", "Z", "Zo"] {
      try stage.announce("Typed \"\(text)\":")
      field.type(text)
      if text == "Z" { stage.show("(the same in capitals: the label receives nothing)") }
    }
    try stage.announce("The token is disposed; then typed \"Zoë\":")
    token.dispose()
    field.type("Zoë")
    stage.show("(the label receives nothing)")
  }

  // MARK: Chained requests

  /// Finds the users with a name, then the details of the first; both are async functions that read the store.
  private func playRequests(_ store: UserStore) async throws {
    try stage.announce(
      "For each text two chained requests: the users with that name, then the details of the first.")
    let field = Field()
    let label = StageLabel("details", stage)
    let details = field.text.signal
      .flatMapLatest { name in try await Self.ids(named: name, in: store) }
      .flatMapLatest { ids in try await Self.details(of: ids.first, in: store) }
    var answers = details.values.makeAsyncIterator()
    for name in ["", "Ada", "Zoë"] {
      try stage.announce("Typed \"\(name)\":")
      if !name.isEmpty { field.type(name) }
      if let answer = await answers.next() { label.show(answer) }
    }
    showCount()
  }

  private static func ids(named name: String, in store: UserStore) async throws -> [User.ID] {
    try await store.read { try $0.users().filter { try $0.name == name }.map(\.id) }
  }

  private static func details(of id: User.ID?, in store: UserStore) async throws -> String {
    guard let id else { return "nobody" }
    return try await store.read { transaction in
      guard let user = try transaction.user(id) else { return "gone" }
      return "\(try user.name), hair \(try user.hairColor.map { "\($0)" } ?? "unknown")"
    }
  }

  private func showCount() {
    stage.show("objects alive: \(CountedObject.count)")
  }
}

private final class Field: Sendable {
  let text: Listenable<String>
  private let source: SignalSource<String>
  private let counted = CountedObject()

  init() {
    (source, text) = Listenable.make("")
  }

  func type(_ text: String) { source.send(text) }
}
