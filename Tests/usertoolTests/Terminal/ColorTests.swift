import Foundation
import Testing

/// Colors on a terminal.
@Suite(.bounded, .serialized) struct `Colors of every command` {
  private func outputs(_ environment: [String: String], _ options: String...) throws -> [(EveryCommand.Line, String)] {
    let workspace = try EveryCommand.makeWorkspace()
    let lines = EveryCommand.lines.filter { $0.words[0] != "serve" }
    let runs = lines.map {
      TerminalBatch.Run(
        arguments: EveryCommand.words($0, in: workspace) + options, columns: 200, environment: environment)
    }
    return try zip(lines, TerminalBatch.results(of: runs, in: workspace).map(\.output)).map { ($0, $1) }
  }

  @Test(arguments: [["NO_COLOR": "1"], ["NO_COLOR": "0", "CLICOLOR_FORCE": "1"], ["TERM": "dumb"]])
  func `the environment turns all colors off`(environment: [String: String]) throws {
    for (line, output) in try outputs(environment) {
      #expect(!output.contains(/\u{1B}\[[0-9;]*m/), "\(line): \(output)")
    }
  }

  @Test func `an option is stronger than the environment, and an empty NO_COLOR means nothing`() throws {
    func isColored(_ environment: [String: String], _ options: String...) throws -> Bool {
      let workspace = try EveryCommand.makeWorkspace()
      let run = TerminalBatch.Run(arguments: ["list"] + options, environment: environment)
      return try TerminalBatch.results(of: [run], in: workspace)[0].output.contains("\u{1B}[48;2;165;42;42m")
    }
    #expect(try isColored([:]))
    #expect(try isColored(["NO_COLOR": ""]))
    #expect(try isColored(["NO_COLOR": "1"], "--color", "always"))
    #expect(try !isColored([:], "--color", "never"))
  }

  @Test func `colors carry nothing that is not in the text`() throws {
    let workspace = try EveryCommand.makeWorkspace()
    for words in [["list"], ["get", "1"], ["log"]] {
      let runs = ["always", "never"].map {
        TerminalBatch.Run(arguments: words + ["--color", $0], columns: 200)
      }
      let texts = try TerminalBatch.results(of: runs, in: workspace).map { result in
        result.output.replacing(/\u{1B}\[48[0-9;]*m  \u{1B}\[0m/, with: "").replacing(/\u{1B}\[[0-9;]*m/, with: "")
          .replacing(/[ ]+/, with: " ").replacing(" \r", with: "\r")
      }
      #expect(texts[0] == texts[1])
    }
  }
}
