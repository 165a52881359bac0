import Foundation
import TestSupport
import Testing
import UserStore

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `The frame of a list` {
  private let plain = Style(.never, isTerminal: true)
  private let colored = Style(.always, isTerminal: true)

  private func user(_ id: Int64, _ name: String, _ further: [AttributeName: StoredValue] = [:]) throws -> User {
    let values = further.map { ",\"\($0.key)\":\($0.value.json)" }.joined()
    let json = "{\"id\":\(id),\"name\":\(StoredValue.text(name).json)\(values)}"
    return try JSONDecoder().decode(User.self, from: Data(json.utf8))
  }

  private func frame(_ names: String..., count: Int? = nil) throws -> ListFrame {
    let users = try names.enumerated().map { try user(Int64($0 + 1), $1, ["age": .integer(41)]) }
    return ListFrame(users: users, count: count ?? users.count, revision: Revision(rawValue: 7))
  }

  /// What a terminal shows after it was given the frame.
  private func shown(_ frame: ListFrame, columns: Int, rows: Int) -> TerminalScreen {
    let lines = frame.lines(colored, columns: columns, rows: rows)
    return TerminalScreen(LiveTerminal.bytes(of: lines), columns: columns, rows: rows)
  }

  @Test func `the number of rows and the revision are below the table`() throws {
    #expect(
      try frame("NIX", "Zoë").lines(plain, columns: 80, rows: 24) == [
        "ID  NAME  HAIR COLOR  age", " 1  NIX                41", " 2  Zoë                41",
        "2 users  rev 7  (Ctrl-C to stop)",
      ])
    #expect(try frame().lines(plain, columns: 80, rows: 24) == ["0 users  rev 7  (Ctrl-C to stop)"])
    #expect(try frame("NIX").lines(plain, columns: 80, rows: 24).last == "1 user  rev 7  (Ctrl-C to stop)")
  }

  @Test func `a list that has reached its limit may not have all users`() throws {
    var frame = try frame("NIX", "Zoë")
    frame.limit = 2
    #expect(frame.lines(plain, columns: 80, rows: 24).last == "first 2 users  rev 7  (Ctrl-C to stop)")
    frame.limit = 3
    #expect(frame.lines(plain, columns: 80, rows: 24).last == "2 users  rev 7  (Ctrl-C to stop)")
  }

  @Test func `in a narrow frame, the attributes that the list is sorted by come first, and none is empty`() throws {
    let users = try (1...3).map { try user($0, "user \($0)", ["age": .integer(40), "a note": .text("long enough")]) }
    var frame = ListFrame(users: users, count: 3, revision: Revision(rawValue: 7), first: ["age"])
    #expect(frame.lines(plain, columns: 36, rows: 10)[0] == "ID  NAME    age  a note")
    #expect(frame.lines(plain, columns: 30, rows: 10)[0] == "ID  NAME    age  a note")
    frame.first = []
    #expect(frame.lines(plain, columns: 36, rows: 10)[0] == "ID  NAME    a note       age")
  }

  @Test(arguments: 1...8) func `a frame is no taller than the screen, and counts the other rows`(rows: Int) throws {
    let names = ["a", "b", "c", "d", "e"]
    let users = try names.enumerated().map { try user(Int64($0 + 1), $1) }
    let lines = ListFrame(users: users, count: 5, revision: Revision(rawValue: 7)).lines(plain, columns: 80, rows: rows)
    #expect(lines.count <= rows && lines.last!.hasPrefix("5 users  rev 7"))
    let table = rows > 2 ? min(5, rows >= 7 ? 5 : rows - 3) : 0
    #expect(lines.count { $0.hasPrefix(" ") && !$0.hasPrefix(" ID") } == table, "\(lines)")
    #expect(lines.contains("… \(5 - table) more") == (rows > 2 && table < 5), "\(lines)")
  }

  @Test(arguments: 1...60) func `no line wraps, whatever is in it and however narrow the screen is`(columns: Int) throws
  {
    let hostile = "x\u{1B}[2J\u{202E}\n\r\t\u{9B}31m\u{7}"
    let frame = try frame("日本語日本語日本語日本語", hostile, "👩‍👧🇩🇪e\u{301}", String(repeating: "long", count: 40))
    let screen = shown(frame, columns: columns, rows: 10)
    #expect(screen.lines.count == 6 && screen.history.isEmpty, "\(screen.lines)")
    for line in frame.lines(plain, columns: columns, rows: 10) {
      #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(line)")
    }
  }

  @Test func `a frame replaces the one before, and leaves what is above`() throws {
    var screen = TerminalScreen(Array("$ usertool\r\n".utf8), columns: 40, rows: 8)
    let big = try frame("a", "b", "c", "d").lines(plain, columns: 40, rows: 8)
    for lines in [big, try frame("Zoë").lines(plain, columns: 40, rows: 8), big] {
      screen.feed(LiveTerminal.bytes(of: lines))
      #expect(screen.lines == ["$ usertool"] + lines)
    }
    // At the bottom of the screen, a frame scrolls once, and never again.
    screen = TerminalScreen(Array("1\r\n2\r\n3\r\n4\r\n5\r\n".utf8), columns: 40, rows: 8)
    for _ in 0..<3 { screen.feed(LiveTerminal.bytes(of: big)) }
    #expect(screen.lines == ["4", "5"] + big && screen.history == ["1", "2", "3"])
  }

  @Test func `a changed cell is marked for a moment, and only with colors`() throws {
    var frame = try frame("NIX", "Zoë")
    frame.marks.add(["age"], of: User.ID(1), at: 1_000)
    frame.marks.add(nil, of: User.ID(2), at: 1_100)
    #expect(shown(frame, columns: 80, rows: 10).marked == [" 41", " 2", "Zoë ", "          ", " 41"])
    #expect(
      frame.lines(plain, columns: 80, rows: 10) == (try self.frame("NIX", "Zoë").lines(plain, columns: 80, rows: 10)))
    #expect(frame.marks.expire(at: 1_100) == 1_000 + ListMarks.duration)
    #expect(frame.marks.expire(at: 1_000 + ListMarks.duration) == 1_100 + ListMarks.duration)
    #expect(shown(frame, columns: 80, rows: 10).marked == [" 2", "Zoë ", "          ", " 41"])
    #expect(frame.marks.expire(at: 1_100 + ListMarks.duration) == nil)
    #expect(shown(frame, columns: 80, rows: 10).marked.isEmpty)
  }

  @Test func `a mark on a folded attribute is on the folded column`() throws {
    let further = Dictionary(
      uniqueKeysWithValues: (10..<30).map { (AttributeName("attribute\($0)"), StoredValue.integer($0)) })
    var frame = ListFrame(users: [try user(1, "NIX", further)], count: 1, revision: Revision(rawValue: 7))
    frame.marks.add(["attribute29"], of: User.ID(1), at: 0)
    let marked = shown(frame, columns: 60, rows: 10).marked
    #expect(marked.count == 1 && marked[0].hasPrefix("attribute"), "\(marked)")
  }
}
