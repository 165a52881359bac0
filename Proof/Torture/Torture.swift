import ArgumentParser
import Foundation
import TortureSupport

/// Shows by force that the promises hold: each harness breaks something, and looks at what is left.
@main struct Torture: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "torture",
    abstract: "Kills, fails and cuts the power, and checks what the store promises.",
    discussion: "Without a name all harnesses run: \(harnesses.map { $0.name }.joined(separator: ", ")).")

  @Argument(help: "The harnesses to run; all without one.")
  var names: [String] = []

  @Flag(help: "So many kills, images and faults as the documentation tells of, instead of a minute's worth.")
  var long = false

  @Option(help: "Where the random choices begin: the same seed makes the same choices.")
  var seed: UInt64?

  private static var harnesses: [any Harness.Type] { [Sweeps.self, PowerCuts.self, Chaos.self] }

  @Option(help: .hidden)
  var judge: String?

  func validate() throws {
    for name in names where !Self.harnesses.contains(where: { $0.name == name }) {
      throw ValidationError("no harness is called \"\(name)\"; there are \(Self.harnesses.map { $0.name })")
    }
  }

  func run() throws {
    if let judge { return try JudgeProcess(judge).run() }
    // Who is written to may have been killed.
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
