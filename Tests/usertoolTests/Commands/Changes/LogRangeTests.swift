import Foundation
import TestSupport
import Testing
import UserStore

/// Which changes `log` prints.
@Suite(.bounded, .serialized) struct `A part of the log` {
  @Test func `any limit prints the newest changes, and with --after the next ones`() throws {
    var random = SplitMix64(seed: Seed.base)
    let workspace = try Workspace()
    for number in 0..<3 { try workspace.run("add", "user \(number)") }
    for number in 0..<12 {
      let user = "\(Int.random(in: 1...3, using: &random))"
      if random.oneIn(2) {
        try workspace.finish(
          [Workspace.tool, "set", user] + (0...Int.random(in: 0...4, using: &random)).map { "a\($0)=\(number)" })
      } else {
        // A write by another program has no row at its end.
        try workspace.sqlite("UPDATE users SET name = name || \(number) WHERE id = \(user)")
      }
    }
    for user in [[], ["1"]] {
      let all = try workspace.finish([Workspace.tool, "log"] + user)
      let whole = try all.summaries
      for limit in 1...(whole.count + 1) {
        let newest = try workspace.finish([Workspace.tool, "log", "--limit", "\(limit)"] + user)
        #expect(try newest.summaries == whole.suffix(limit), "\(limit)")
        #expect(newest.errors.contains("there are earlier changes") == (limit < whole.count), "\(newest.errors)")
        // The last line of each write has a cursor, also of the first one, which may be cut.
        #expect(newest.lines == Array(all.lines.suffix(limit)))
      }
      let index = try #require(try all.lines.firstIndex { try Line.decode($0).cursor != nil })
      let cursor = try #require(try Line.decode(all.lines[index]).cursor)
      for limit in 1...3 {
        let next = try workspace.finish([Workspace.tool, "log", "--after", cursor, "--limit", "\(limit)"] + user)
        #expect(try next.summaries == Array(whole[(index + 1)...].prefix(limit)))
      }
    }
  }

  @Test func `a table names who has made a change, unless it is usertool`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    for origin in ["ann", "a\u{1B}]0;x\u{7}", nil] {
      let store = try UserStore(path: workspace.database)
      let name = "by\(origin ?? "nobody")".filter(\.isLetter)
      try store.write(origin: origin) { try $0.rename(UserStore.User.ID(1), to: name) }
      store.close()
    }
    try workspace.run("undo")
    let lines = try workspace.run("log", "--format", "table").lines
    let ends = lines.map { String($0.drop { $0 != "\"" }) }
    #expect(
      ends == [
        "\"NIX\"", "", "\"NIX\" → \"byann\"  (ann)", "\"byann\" → \"byax\"  (a\\u{1B}]0;x\\u{7})",
        "\"byax\" → \"bynobody\"", "\"bynobody\" → \"byax\"  (undo)",
      ])
  }

  @Test func `the newest changes are found in a log of many writes, however few they are`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "rare")
    try workspace.run("add", "frequent")
    try workspace.run("rename", "1", "rare too")
    try workspace.sqlite(
      """
      CREATE TEMP TABLE n AS WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 30000) SELECT n FROM n;
      INSERT INTO attributes SELECT 2, 'a' || n, n FROM n
      """)
    #expect(try workspace.run("log", "rare too", "--limit", "1").summaries == ["update 1 name 'rare'>'rare too'"])
    #expect(
      try workspace.run("log", "--limit", "2").summaries == [
        "update 2 a29999 null>29999", "update 2 a30000 null>30000",
      ])
    #expect(try workspace.run("log", "1", "--limit", "9").summaries.count == 3)
    try workspace.run("compact", "--keep", "0")
    let none = try workspace.run("log", "--limit", "9")
    #expect(none.status == 0 && none.output.isEmpty && none.errors.isEmpty, "\(none)")
  }

  @Test func `beside a program that never stops to write, a limit is a limit`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let writer = try workspace.python(
      """
      import itertools, select, sys
      db.execute("PRAGMA busy_timeout=60000")
      for number in itertools.count(1):
        db.execute("UPDATE users SET name = ? WHERE id = 1", (f"n{number}",))
        if number == 2000: print("writing", flush=True)
        if select.select([sys.stdin], [], [], 0)[0]: break
      """)
    #expect(writer.output.next() == "writing")
    for _ in 0..<10 {
      let numbers = try workspace.finish([Workspace.tool, "log", "--limit", "20"]).lines.map { line in
        if case .text(let text) = try Line.decode(line).new { Int(text.dropFirst()) } else { nil as Int? }
      }
      let first = try #require(numbers.first ?? nil)
      #expect(numbers == Array(first..<first + 20))
    }
    writer.endInput()
    #expect(writer.wait() == 0)
  }

  @Test func `--last prints what is not older`() throws {
    let workspace = try Workspace()
    for name in ["old", "middle", "new"] { try workspace.run("add", name) }
    try workspace.sqlite(
      "UPDATE changes SET at = at - CASE WHEN user = 1 THEN 3 WHEN user = 2 THEN 1 ELSE 0 END * 3600000")
    func names(_ arguments: String...) throws -> [String] {
      try workspace.finish([Workspace.tool, "log"] + arguments).summaries.filter { $0.contains(" name ") }
    }
    #expect(try names("--last", "30m") == ["insert 3 name null>'new'"])
    #expect(try names("--last", "2h") == ["insert 2 name null>'middle'", "insert 3 name null>'new'"])
    #expect(try names("--last", "1d").count == 3)
    #expect(try names("--last", "2h", "middle").count == 1)
    #expect(try names("--last", "1d", "--limit", "3") == ["insert 3 name null>'new'"])
    let cursor = try #require(try workspace.run("log", "1").lines.compactMap { try Line.decode($0).cursor }.last)
    #expect(try names("--last", "1d", "--after", cursor).count == 2)
    let unclear = try workspace.run("log", "--last", "5")
    #expect(unclear.status == 64 && unclear.errors.contains("--last 5 needs a unit: 5s, 5m, 5h or 5d"), "\(unclear)")
  }
}
