import Foundation
import TestSupport
import Testing

extension Child {
  /// How much memory it had at its most, in bytes; only while it runs.
  func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return try #require(line.flatMap { Int($0.filter(\.isNumber)) }) << 10
  }

  /// Reads standard error to the line with which `watch` says that nothing is missed from here on.
  func waitUntilWatching(sourceLocation: SourceLocation = #_sourceLocation) throws {
    var seen: [String] = []
    while let line = errors.next() {
      if line.hasPrefix("watching ") { return }
      seen.append(line)
    }
    try #require(Bool(false), "it never watched: \(seen)", sourceLocation: sourceLocation)
  }
}
