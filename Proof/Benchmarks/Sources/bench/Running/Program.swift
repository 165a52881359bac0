import CFloor
import Foundation

/// Runs other programs.
enum Program {
  /// The path of a program that `scripts/bench` has built.
  static func path(_ variable: String) -> String? { ProcessInfo.processInfo.environment[variable] }

  /// Runs a program by its name or path, and returns its standard output without the line end.
  @discardableResult
  static func output(_ arguments: String...) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try expect(Int(process.terminationStatus), 0, arguments.joined(separator: " "))
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  /// Runs a program with little overhead, because `Process` would add tens of milliseconds.
  static func run(_ arguments: String...) throws {
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    try expect(Int(floor_spawn(&pointers)), 0, arguments.joined(separator: " "))
  }
}
