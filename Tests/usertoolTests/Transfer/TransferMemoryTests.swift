import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Memory of export and import` {
  @Test(.enabled(if: !Sanitizer.isAny), arguments: ["jsonl", "csv"])
  func `the memory of export and import does not grow with the number of users`(format: String) throws {
    let workspace = try Workspace()
    var peaks: [Int] = []
    for count in [2_000, 30_000] {
      let name = "in\(count).\(format)"
      let rows = (1...count).map { number in
        format == "csv"
          ? "user \(number),some text that is longer than a pointer \(number)\n"
          : "{\"name\":\"user \(number)\",\"note\":\"some text that is longer than a pointer \(number)\"}\n"
      }
      let text = (format == "csv" ? "name,note\n" : "") + rows.joined()
      try workspace.write(Data(text.utf8), to: name)
      workspace.database = workspace.folder + "/\(count).db"
      for arguments in [
        ["import", workspace.folder + "/" + name], ["export", workspace.folder + "/out\(count).\(format)"],
        ["export", "--format", format],
      ] {
        let (outcome, peak) = try workspace.measured(arguments)
        #expect(outcome.status == 0, "\(outcome)")
        peaks.append(peak)
      }
    }
    // The 28,000 additional users would take at least 15 MiB in memory.
    for (small, large) in zip(peaks[..<3], peaks[3...]) {
      #expect(large - small < 8 << 20, "KiB: \(peaks.map { $0 >> 10 })")
    }
  }
}
