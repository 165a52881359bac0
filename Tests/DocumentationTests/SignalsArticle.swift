import Testing
import UserStore

/// Runs the examples of the article “Signals”.
@Suite(.timeLimit(.minutes(5))) struct SignalsArticle {
  private let printed = Printed()
  private let bag = TokenBag()
  private let store: UserStore
  private let user: UserStore.User.ID

  init() throws {
    store = try UserStore.inMemory()
    user = try store.write { try $0.add(name: "NIX") }
  }

  @Test func `an attribute is a signal, and two attributes are combined`() throws {
    let print = printed.print
    let name = try store.listenable(.name, of: user).signal
    let token = name.map { $0 ?? "gone" }.subscribe { print("name:", $0) }
    try store.write { try $0.rename(user, to: "Zoë") }
    #expect(printed.taken() == ["name: NIX", "name: Zoë"])
    token.dispose()

    let color = try store.listenable(.hairColor, of: user).signal
    name.combineLatest(color) { "\($0 ?? "gone"), \($1.map { "\($0)" } ?? "bald")" }
      .subscribe { print("card:", $0) }.disposed(by: bag)
    try store.write { users in
      try users.rename(user, to: "Ada")
      try users.set(.hairColor, of: user, to: UserStore.Color("white"))
    }
    #expect(printed.taken() == ["card: Zoë, bald", "card: Ada, #ffffff"])
  }

  @Test func `a source sends values, and an error is caught`() throws {
    let print = printed.print
    let (source, numbers) = Signal<Int>.make()
    numbers.filter { $0.isMultiple(of: 2) }.scan(0, +).subscribe { print("sum:", $0) }.disposed(by: bag)
    for number in 1...4 { source.send(number) }
    #expect(printed.taken() == ["sum: 2", "sum: 6"])

    let (texts, text) = Signal<String>.make()
    text.map { try parse($0) }.catch { _ in 0 }.subscribe { print("number:", $0) }.disposed(by: bag)
    for line in ["1", "one", "2"] { texts.send(line) }
    #expect(printed.taken() == ["number: 1", "number: 0", "number: 2"])
  }

  @Test func `a signal maps values to asynchronous requests`() async throws {
    try await store.write { [user] in try $0.rename(user, to: "Ada") }
    let print = printed.print
    let (queries, query) = Signal<String>.make()
    let found = query.flatMapLatest { query in try await ids(named: query) }
      .flatMapLatest { ids in try await detail(of: ids.first) }
    found.subscribe { print("detail:", $0) }.disposed(by: bag)
    queries.send("Ada")
    while printed.isEmpty { await Task.yield() }
    #expect(printed.taken() == ["detail: Ada"])
  }

  @Test func `a signal's values are an async sequence`() async {
    let print = printed.print
    let (source, numbers) = Signal<Int>.make()
    let task = Task {
      for await number in numbers.values { print("number:", number) }
    }
    source.end()
    await task.value
  }

  private func ids(named name: String) async throws -> [UserStore.User.ID] {
    try await store.read { try $0.users().filter { try $0.name == name }.map(\.id) }
  }

  private func detail(of id: UserStore.User.ID?) async throws -> String {
    try await store.read { transaction in try id.flatMap { try transaction.user($0)?.name } ?? "nobody" }
  }
}

private func parse(_ text: String) throws -> Int {
  struct NoNumber: Error {}
  guard let number = Int(text) else { throw NoNumber() }
  return number
}
