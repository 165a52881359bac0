import ArgumentParser
import Foundation
import TestSupport
import Testing
import UserStore

@testable import UserToolCommands

/// Terminals from 1 to 200 columns.
@Suite(.bounded, .serialized) struct `Every width` {
  /// All widths with `USERSTORE_RUNS=200`; otherwise the smallest, where there is no room, and another one.
  private static let widths: [Int] = {
    if Repetitions.count >= 200 { return Array(1...200) }
    var random = SplitMix64(seed: Seed.base)
    return [1, Int.random(in: 2..<200, using: &random)]
  }()

  @Test func `every command ends as on a wide terminal`() throws {
    #expect(EveryCommand.missing.isEmpty)
    let workspace = try EveryCommand.makeWorkspace()
    let lines = EveryCommand.lines + UserTool.configuration.subcommands.map { .init("\($0._commandName) --help") }
    let runs = Self.widths.flatMap { width in
      lines.filter { $0.words[0] != "serve" }.map { line in
        (
          width, line,
          TerminalBatch.Run(
            arguments: EveryCommand.words(line, in: workspace), columns: width, rows: max(1, width / 3))
        )
      }
    }
    let results = try TerminalBatch.results(of: runs.map(\.2), in: workspace)
    for ((width, line, _), result) in zip(runs, results) {
      #expect(result.status == line.status, "\(line) with \(width) columns: \(result)")
      guard line.words == ["list"] else { continue }
      #expect(
        result.lines.allSatisfy { Self.withoutColors($0).columns <= width }, "\(line) with \(width) columns: \(result)")
    }
  }

  private static func withoutColors(_ line: String) -> String {
    line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
  }

  // MARK: Tables

  private func records(_ random: inout SplitMix64) -> [Record] {
    let texts = ["", "x", "Zoë", "日本語", "👨‍👩‍👧‍👦", "e\u{301}\u{302}", String(repeating: "long ", count: 30), "日本語日本語日本語"]
    let values: [StoredValue] = [.null, .integer(7), .integer(.min), .real(-1.5e300)] + texts.map { .text($0) }
    let attributes = ["age", "日本", "a very long attribute's name", "n"].shuffled(using: &random)
    return (0..<Int.random(in: 0...4, using: &random)).map { id in
      let further = attributes.prefix(Int.random(in: 0...4, using: &random)).map {
        ($0, values.randomElement(using: &random)!)
      }
      let color = random.choose(StoredValue.null, .text("#ff8800"))
      return Record(
        fields: [
          ("id", .integer(random.choose(Int64(id), .max))), ("name", .text(texts.randomElement(using: &random)!)),
          ("hair_color", color),
        ] + further)
    }
  }

  @Test func `a table that is cut is never wider than the terminal`() {
    var random = SplitMix64(seed: Seed.base)
    for round in 0..<12 {
      let records = records(&random)
      let style = Style(random.choose(.always, .never), isTerminal: true)
      let table = RecordTable(records, columns: nil, first: ["n"], style) { _, _ in random.oneIn(3) }
      for width in 1...200 {
        let lines = table.lines(.cut(to: width)).map(Self.withoutColors)
        #expect(lines.allSatisfy { $0.columns <= width }, "round \(round), \(width) columns: \(lines)")
        #expect(lines.count == records.count + 1)
        // A turned table is not cut.
        _ = table.lines(.turned(at: width))
      }
    }
  }

  @Test func `a list that is followed fits into every terminal`() throws {
    let long = String(repeating: "日", count: 60)
    let users = try (1...40).map { id in
      try JSONDecoder().decode(
        User.self,
        from: Data(
          "{\"id\":\(id),\"name\":\"\(id % 3 == 0 ? long : "Zoë")\",\"hair_color\":\"#ff0000\",\"age\":\(id)}".utf8))
    }
    let style = Style(.always, isTerminal: true)
    for columns in 1...200 {
      for rows in [1, 2, 3, 24] {
        for count in [0, 1, 40] {
          let frame = ListFrame(
            users: Array(users.prefix(count)), count: count, revision: Revision(rawValue: .max), limit: nil)
          let lines = frame.lines(style, columns: columns, rows: rows)
          let room = max(1, columns - 1)
          #expect(
            lines.count <= rows && lines.allSatisfy { Self.withoutColors($0).columns <= room }, "\(columns)×\(rows)")
          // Nothing that it draws scrolls a terminal, or leaves it in another mode.
          let screen = TerminalScreen(LiveTerminal.bytes(of: lines), columns: columns, rows: rows)
          #expect(screen.history.isEmpty && screen.lines.count <= rows, "\(columns)×\(rows)")
        }
      }
    }
  }

  @Test func `a followed list survives every resize`() throws {
    let workspace = try EveryCommand.makeWorkspace()
    var random = SplitMix64(seed: Seed.base)
    var actions: [TerminalSession.Action] = [.wait(for: "2 users")]
    let sizes = [(1, 1), (2, 1), (3, 2), (1, 24), (200, 1)]
    for (index, size)
      in (sizes + (0..<5).map { _ in (Int.random(in: 1...9, using: &random), Int.random(in: 1...5, using: &random)) })
      .enumerated()
    {
      actions.append(.resize(columns: size.0, rows: size.1))
      // A frame of the new size: the first line is that of the footer, or of a table, and not wider.
      actions.append(.run([Workspace.tool, "set", "1", "age=\(index)", "--quiet"]))
      actions.append(.wait(for: "\u{1B}[J"))
    }
    actions += [.resize(columns: 80, rows: 24), .wait(for: "Ctrl-C to stop"), .type("\u{3}")]
    let session = try TerminalSession(
      ["list", "--follow", "--color", "always"], columns: 80, rows: 24, in: workspace, actions)
    #expect(session.status == 130 && session.showsTyping)
    #expect(String(decoding: session.output, as: UTF8.self).contains("stopped at revision"))
  }

  // MARK: Help and progress

  @Test(arguments: UserTool.configuration.subcommands.map { $0._commandName })
  func `help is whole on every terminal that is wide enough for the parser`(command: String) throws {
    let type = try #require(UserTool.configuration.subcommands.first { $0._commandName == command })
    func words(_ columns: Int) -> [Substring] {
      UserTool.helpMessage(for: type, columns: columns).split(whereSeparator: \.isWhitespace)
    }
    let all = words(200)
    for columns in Array(UserTool.leastHelpColumns...44) + [60, 81, 120] {
      #expect(words(columns) == all, "\(columns) columns")
    }
  }

  @Test func `help on a narrow terminal has every word`() throws {
    let workspace = try Workspace()
    let runs = [(1, [:]), (39, [:]), (80, ["COLUMNS": "1"]), (80, ["COLUMNS": "-7"]), (5, ["COLUMNS": "x"]), (80, [:])]
      .map {
        TerminalBatch.Run(arguments: ["add", "--help"], columns: $0, environment: $1)
      }
    let words = try TerminalBatch.results(of: runs, in: workspace).map {
      $0.output.split(whereSeparator: \.isWhitespace)
    }
    #expect(words.allSatisfy { $0 == words.last })
  }

  @Test func `each line of progress replaces the one before`() {
    for columns in 1...200 {
      var screen = TerminalScreen(columns: columns, rows: 3)
      for line in ProgressLine.samples + [""] {
        #expect(screen.lines.count < 2 && screen.history.isEmpty, "\(columns) columns: \(screen.lines)")
        screen.feed(Array(Messages.progress(line, columns: columns).utf8))
      }
      #expect(screen.lines.isEmpty && screen.history.isEmpty, "\(columns) columns: \(screen.lines)")
    }
  }
}

extension ProgressLine {
  fileprivate static var samples: [String] {
    var counting = ProgressLine(verb: "imported", start: 0, users: 123_456_789)
    counting.fraction = 0.5
    var other = ProgressLine(verb: "indexing a very long attribute", start: 0)
    return [counting.text(at: 60_000), other.text(at: 60_000)].compactMap(\.self)
  }
}
