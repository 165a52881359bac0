import TestSupport
import Testing
import UserStore
import UserStoreText

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `The place where a page ends` {
  private static let values: [StoredValue] = [
    .null, .integer(.min), .integer(41), .real(1), .real(-0.0), .real(.infinity), .real(.leastNonzeroMagnitude),
    .text(""),
    .text("O'Hara \"x\" \\ \\\\ \n\t\r\u{0} ! $x `y` \u{1B}[31m"), .text("\u{202E}\u{200B}\u{7F}\u{85}👩‍👧 é e\u{301}"),
    .blob([0, 255]), .blob([]), .invalidText([0x41, 0xFF, 0x27]),
  ]

  private func mistake(_ text: String) throws -> Failure {
    Failure(
      try #require(throws: TextError.self) {
        try PageToken.position(text, sortedBy: [SortKey("age")], .options)
      })
  }

  @Test(arguments: values) func `a place is read back exactly`(value: StoredValue) throws {
    let order = [SortKey("a'b\\:\u{202E}", descending: true), SortKey("id", missingLast: true)]
    let place = Query.Position(values: [value, .integer(7)], id: User.ID(7))
    let token = try #require(PageToken(after: place, sortedBy: order))
    let read = try PageToken.position(token.text, sortedBy: order, .options)
    #expect(read.id == place.id && read.values[1] == .integer(7))
    // As text: 0.0 equals -0.0.
    #expect("\(read.values[0])" == "\(value)")
    #expect(token.text.shown == token.text)
  }

  @Test(arguments: ["bash", "zsh", "fish"]) func `a shell reads the word as it is`(shell: String) throws {
    let workspace = try Workspace()
    guard try workspace.finish(["sh", "-c", "command -v \(shell)"]).status == 0 else { return }
    for value in Self.values {
      let place = Query.Position(values: [value], id: User.ID(-7))
      let token = try #require(PageToken(after: place, sortedBy: [SortKey("it's")]))
      let outcome = try workspace.finish([shell, "-c", "printf '%s' \(token.word)"])
      #expect(outcome.output == token.text, "\(outcome)")
    }
  }

  @Test func `the place in an unsorted list is the id`() throws {
    for id in [0, 20] as [Int64] {
      #expect(PageToken(after: Query.Position(values: [], id: User.ID(id)), sortedBy: [])?.word == "\(id)")
    }
    #expect(PageToken(after: Query.Position(values: [], id: User.ID(-20)), sortedBy: [])?.word == #"'{"id":-20}'"#)
    #expect(try PageToken.position("20", sortedBy: [], .options).id == User.ID(20))
  }

  @Test(arguments: ["", "x", "5x", "{", "[]", "{}", #"{"id":"7"}"#, #"{"age:asc":1}"#, #"{"id":7}x"#])
  func `what is no place is bad data`(text: String) throws {
    let failure = try mistake(text)
    #expect(failure.status == .badData && failure.message.contains("not the end of a page"), "\(failure)")
  }

  @Test func `a place in another order is refused, and the hint has the options`() throws {
    let token = #"{"age:desc":41,"id":7}"#
    let failure = try mistake(token)
    #expect(failure.status == .usage && failure.hint == "pass --sort age:desc too", "\(failure)")
    #expect(throws: TextError.self) { try PageToken.position("7", sortedBy: [SortKey("age")], .options) }
  }

  @Test func `values that do not fit into a command line have no token`() {
    let place = Query.Position(values: [.text(String(repeating: "x", count: 100_001))], id: User.ID(1))
    #expect(PageToken(after: place, sortedBy: [SortKey("note")]) == nil)
  }
}
