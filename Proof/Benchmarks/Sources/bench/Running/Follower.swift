import Foundation

/// Another process that follows the store.
final class Follower {
  private let process = Process()
  private let pipe = Pipe()

  /// Starts the process, and returns when it follows.
  init(_ way: Follow.Way, path: String, _ address: String = "") throws {
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["follow", way.rawValue, path, address]
    process.standardOutput = pipe
    try process.run()
    let ready = try pipe.fileHandleForReading.read(upToCount: Follow.ready.utf8.count)
    try expect(ready?.count ?? 0, Follow.ready.utf8.count, "bytes of a follower's ready line")
  }

  /// Waits until it has received `Stamp.end`, and returns the ages of all stamps.
  func ages() throws -> [Duration] { try figures().map { .nanoseconds($0) } }

  /// Waits until it has received `Stamp.end`, and returns what it has printed.
  func figures() throws -> [Int] {
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try expect(Int(process.terminationStatus), 0, "exit of a follower")
    return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
  }
}
