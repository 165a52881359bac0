import Foundation
import TestSupport
import Testing

extension Child {
  /// The peak memory of the running process, in bytes.
  func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return try #require(line.flatMap { Int($0.filter(\.isNumber)) }) << 10
  }

  /// Reads standard error up to the line with which `watch` reports that it misses no change from now on.
  func waitUntilWatching(sourceLocation: SourceLocation = #_sourceLocation) throws {
    var seen: [String] = []
    while let line = errors.next() {
      if line.hasPrefix("watching ") { return }
      seen.append(line)
    }
    try #require(Bool(false), "the watch did not start: \(seen)", sourceLocation: sourceLocation)
  }
}
