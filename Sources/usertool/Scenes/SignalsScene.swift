import UserStore

/// A field's text as a signal, a chained request that follows it, and nothing left at the end.
struct SignalsScene {
  private let stage: Stage

  init(_ stage: Stage) {
    self.stage = stage
  }

  func play() async throws {
    var configuration = Configuration()
    configuration.watchesOtherProcesses = false
    let store = try UserStore.temporary(configuration: configuration)
    defer { store.close() }
    try await store.write { users in
      try users.add(name: "Ada", hairColor: Color("auburn"))
      try users.add(name: "Zoë", hairColor: Color("black"))
    }
    await playField()
    if Signals.shared.status == nil { await playRequests(store) }
  }

  // MARK: A field

  private func playField() async {
    stage.announce("A field; its text is a signal, mapped and without repetitions, and a label subscribes to it.")
    let field = Field()
    let label = Label("label", stage)
    let token = field.text.signal.map { $0.uppercased() }.removeDuplicates().subscribe { label.show($0) }
    showLiving()
    for text in ["z", "Z", "Zo"] {
      if Signals.shared.status != nil { return }
      stage.announce("Typed \"\(text)\":")
      field.type(text)
      if text == "Z" { stage.show("(no different in capitals: the label hears nothing)") }
    }
    stage.announce("The token is disposed; typed \"Zoë\":")
    token.dispose()
    field.type("Zoë")
    stage.show("(the label hears nothing)")
  }

  // MARK: A chained request

  /// Users of that name, then the detail of the first: each step an async function that reads the store.
  private func playRequests(_ store: UserStore) async {
    stage.announce(
      "Two requests, one after another, for each text: the users of that name, then the first one's detail.")
    let field = Field()
    let label = Label("detail", stage)
    let details = field.text.signal
      .flatMapLatest { name in try await Self.ids(named: name, in: store) }
      .flatMapLatest { ids in try await Self.detail(of: ids.first, in: store) }
    var answers = details.values.makeAsyncIterator()
    for name in ["", "Ada", "Zoë"] {
      if Signals.shared.status != nil { return }
      stage.announce("Typed \"\(name)\":")
      if !name.isEmpty { field.type(name) }
      if let answer = await answers.next() { label.show(answer) }
    }
    showLiving()
  }

  private static func ids(named name: String, in store: UserStore) async throws -> [User.ID] {
    try await store.read { try $0.users().filter { try $0.name == name }.map(\.id) }
  }

  private static func detail(of id: User.ID?, in store: UserStore) async throws -> String {
    guard let id else { return "nobody" }
    return try await store.read { transaction in
      guard let user = try transaction.user(id) else { return "gone" }
      return "\(try user.name), hair \(try user.hairColor.map { "\($0)" } ?? "unknown")"
    }
  }

  private func showLiving() {
    stage.show("objects alive: \(Living.count)")
  }
}

/// Shows its text to everybody, and lets only itself change it.
private final class Field: Sendable {
  let text: Listenable<String>
  private let source: SignalSource<String>
  private let living = Living()

  init() {
    (source, text) = Listenable.make("")
  }

  func type(_ text: String) { source.send(text) }
}

private final class Label: Sendable {
  private let name: String
  private let stage: Stage
  private let living = Living()

  init(_ name: String, _ stage: Stage) {
    self.name = name
    self.stage = stage
  }

  func show(_ text: String) { stage.show("\(name)  \(text.isEmpty ? "(empty)" : text)") }
}
