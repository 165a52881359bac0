import ArgumentParser
import Foundation

/// Runs the cases and prints a table for each.
struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Run cases side by side (the default command).")

  @Argument(help: "Run only the cases whose names contain one of these, such as hub/ or write/full.")
  var filters: [String] = []

  @Flag(help: "Run fewer and shorter rounds with smaller stores, in under two minutes.")
  var quick = false

  @Flag(help: "Print the names of the cases without running them.")
  var list = false

  @Option(help: "The file for the results, with a JSON object per line.")
  var json = Checkout.benchmarks.appending(path: "results.jsonl").path

  @Option(help: "The folder for the databases, whose file system is measured.")
  var folder = FileManager.default.temporaryDirectory.path

  func run() throws {
    let effort = Effort(isQuick: quick)
    let all = allCases(effort)
    let names = Set(all.map(\.name))
    // The name of a case, such as `hub/delivery/1`, chooses no other one.
    let cases = all.filter { entry in
      filters.isEmpty || filters.contains { names.contains($0) ? entry.name == $0 : entry.name.contains($0) }
    }
    if cases.isEmpty {
      throw ValidationError("no case's name contains \(filters.joined(separator: " or ")); try --list")
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

  /// Prints without a buffer, also into a pipe.
  private func show(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
