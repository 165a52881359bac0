import CFloor
import Foundation

/// Other programs.
enum Program {
  /// Runs a program that is found by its name or path, to its end.
  ///
  /// - Returns: its standard output, without the line end.
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

  /// Runs a program to its end, with nothing around it that would be measured too: `Process` takes tens of milliseconds.
  static func run(_ arguments: String...) throws {
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    try expect(Int(floor_spawn(&pointers)), 0, arguments.joined(separator: " "))
  }
}
