import ArgumentParser
import Foundation
import TortureSupport

/// Tests the promises by force: each harness breaks something and checks the result.
@main struct Torture: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "torture",
    abstract: "Kills processes, injects faults, simulates power cuts, and checks what the store promises.",
    discussion: "Without a name, all harnesses run: \(harnesses.map { $0.name }.joined(separator: ", ")).")

  @Argument(help: "The harnesses to run (default: all).")
  var names: [String] = []

  @Flag(help: "Run the long tier, whose results the documentation reports, instead of a minute's worth.")
  var long = false

  @Option(help: "The seed of the random choices: the same seed makes the same choices.")
  var seed: UInt64?

  private static var harnesses: [any Harness.Type] { [Sweeps.self, PowerCuts.self, Chaos.self] }

  @Option(help: .hidden)
  var judge: String?

  func validate() throws {
    for name in names where !Self.harnesses.contains(where: { $0.name == name }) {
      let all = Self.harnesses.map { $0.name }.joined(separator: ", ")
      throw ValidationError("there is no harness \"\(name)\"; the harnesses are \(all)")
    }
  }

  func run() throws {
    if let judge { return try JudgeProcess(judge).run() }
    // The process at the other end of a pipe may have been killed.
    signal(SIGPIPE, SIG_IGN)
    let plan = Plan(isLong: long, seed: seed ?? UInt64.random(in: 0..<1_000_000_000))
    var report = Report()
    report.begin(plan)
    for harness in Self.harnesses where names.isEmpty || names.contains(harness.name) {
      report.begin(harness.name)
      try harness.run(plan, &report)
    }
    report.finish()
    if report.hasFailed { throw ExitCode.failure }
  }
}
