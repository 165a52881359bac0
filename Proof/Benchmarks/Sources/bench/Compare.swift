import ArgumentParser
import Foundation

/// Runs the cases and prints a table for each.
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Run cases side by side (what happens without a command).")

  @Argument(help: "Only the cases whose names contain one of these, for instance hub/ or write/full.")
  var filters: [String] = []

  @Flag(help: "Fewer and shorter rounds, smaller stores: under two minutes.")
  var quick = false

  @Flag(help: "Print the names of the cases, and run none.")
  var list = false

  @Option(help: "Where the results are written, a JSON object a line.")
  var json = Checkout.benchmarks.appending(path: "results.jsonl").path

  @Option(help: "Where the databases are made; their file system is measured.")
  var folder = FileManager.default.temporaryDirectory.path

  func run() throws {
    let effort = Effort(isQuick: quick)
    let cases = allCases(effort).filter { entry in
      filters.isEmpty || filters.contains { entry.name.contains($0) }
    }
    if cases.isEmpty {
      throw ValidationError("no case has a name with \(filters.joined(separator: " or ")); try --list")
    }
    if list {
      for entry in cases { print(entry.name) }
      return
    }
    try measure(cases, effort)
  }

  private func measure(_ cases: [Case], _ effort: Effort) throws {
    let place = URL(filePath: folder)
    let machine = Machine(folder: place, effort: effort)
    let results = try JSONLines(path: json)
    show(machine.text)
    try results.write(machine)
    let runner = Runner(effort: effort, folder: place)
    for entry in cases {
      let outcomes = try runner.run(entry)
      show(Report(entry: entry, outcomes: outcomes).text)
      try results.write(entry, outcomes)
    }
  }

  /// At once, also into a pipe.
  private func show(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
