import Foundation
import Testing

/// A program that is run to its end.
enum Program {
  struct Failure: Error, CustomStringConvertible {
    let program: String
    let status: Int32
    let output: String
    var description: String { "\(program) ended with \(status): \(output)" }
  }

  /// Runs a program found by name or path.
  ///
  /// - Returns: what it wrote to standard output; both outputs are in the error when it fails.
  @discardableResult
  static func run(_ name: String, _ arguments: [String], input: String = "") throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
    let end = Gate()
    process.terminationHandler = { _ in end.open() }
    try process.run()
    // A small text, which the pipe holds.
    try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let output = String(decoding: stdout.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let errors = String(decoding: stderr.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    end.wait()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(program: name, status: process.terminationStatus, output: output + errors)
    }
    return output
  }
}
