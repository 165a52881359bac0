import Foundation
import Testing

@testable import UserStore

/// Runs a program and waits until it exits.
enum Program {
  struct Failure: Error, CustomStringConvertible {
    let program: String
    let status: Int32
    let output: String
    var description: String { "\(program) ended with \(status): \(output)" }
  }

  /// Held while a program starts: a child that inherited the pipe of another one would keep it open.
  private static let starting = Lock(())

  /// Runs a program by its name or path.
  ///
  /// - Returns: Its standard output. If it fails, the error has both outputs.
  @discardableResult
  static func run(_ name: String, _ arguments: [String]) throws -> String {
    let end = Gate()
    let (process, stdout, stderr) = try starting.withLock { _ in
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [name] + arguments
      let (stdout, stderr) = (Pipe(), Pipe())
      process.standardInput = FileHandle.nullDevice
      (process.standardOutput, process.standardError) = (stdout, stderr)
      process.terminationHandler = { _ in end.open() }
      try process.run()
      return (process, stdout, stderr)
    }
    let output = try text(of: stdout)
    let errors = try text(of: stderr)
    end.wait()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(program: name, status: process.terminationStatus, output: output + errors)
    }
    return output
  }

  /// Reads to the end, and closes the pipe: on Linux, `Process` may keep it open.
  private static func text(of pipe: Pipe) throws -> String {
    defer { try? pipe.fileHandleForReading.close() }
    return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
