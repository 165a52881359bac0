import Testing

@testable import UserStore

/// The text of cursors.
@Suite(.bounded, .serialized) struct CursorTests {
  @Test func `a cursor is parsed from its text`() throws {
    for cursor in [
      Cursor(epoch: 0, revision: 0, nonce: 0), Cursor(epoch: .min, revision: .max, nonce: -1),
      Cursor(epoch: -5, revision: 17, nonce: .max),
    ] {
      #expect(try Cursor(cursor.description) == cursor)
    }
  }

  @Test(arguments: [
    "", "v1", "v1---", "v1-1-1", "v1-1-1-1-1", "v1-g-1-1", "v1-+1-1-1", "v1-1-ffffffffffffffff-1", " v1-1-1-1",
    "v1-1-1-1 ",
    "v1-11111111111111111-1-1", "v0-1-1-1", "v2-1-1-1", "v99999999999-1", "1-1-1-1", "v1-１-1-1", "v1-01-1-1",
    "v1-A-1-1", "v1--1-1-1", "v1-1-1-1-", "v1-1-1-1\u{0}",
    "\u{1B}[31mv1-1-1-1",
  ])
  func `other text is refused`(_ text: String) {
    #expect(code { try Cursor(text) } == .badCursor)
  }

  @Test(arguments: [
    "v1-e" + String(repeating: "\u{301}", count: 50_000), "v" + String(repeating: "0", count: 50_000) + "2",
  ])
  func `the error for a long text is short`(_ text: String) {
    let error = #expect(throws: StoreError.self) { try Cursor(text) }
    #expect(error.map { $0.message.utf8.count < 300 } == true)
  }

  @Test func `the error for a cursor of a newer version says so`() {
    let error = #expect(throws: StoreError.self) { try Cursor("v2-anything") }
    #expect(error?.message.contains("newer version") == true)
  }
}
