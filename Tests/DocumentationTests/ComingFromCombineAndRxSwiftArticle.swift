import Testing
import UserStore

/// Runs the examples of the article “Coming from Combine and RxSwift”.
@Suite(.timeLimit(.minutes(5))) @MainActor struct ComingFromCombineAndRxSwiftArticle {
  private let printed = Printed()
  private let bag = TokenBag()

  @Test func `a search follows a text field`() async {
    let print = printed.print
    let clock = ImmediateClock()

    let (source, text) = Signal<String>.make()
    text.debounce(for: .milliseconds(300), clock: clock)
      .removeDuplicates()
      .flatMapLatest { text in try await search(text) }
      .subscribe(on: .main) { results in print("found:", results) }
      .disposed(by: bag)
    source.send("Zoë")

    while printed.isEmpty { await Task.yield() }
    #expect(printed.taken() == ["found: [\"Zoë\"]"])
  }

  @Test func `a failure does not end a signal`() {
    let print = printed.print

    let (lines, line) = Signal<String>.make()
    line.map { try number($0) }.subscribeToEvents { event in print(event) }.disposed(by: bag)
    for text in ["1", "one", "2"] { lines.send(text) }

    let events = printed.taken()
    #expect(events.count == 3 && events.first == "value(1)" && events.last == "value(2)")
    #expect(events[1].hasPrefix("failure("))
  }
}

private func search(_ text: String) async throws -> [String] { [text] }

private func number(_ text: String) throws -> Int {
  struct NoNumber: Error {}
  guard let number = Int(text) else { throw NoNumber() }
  return number
}
