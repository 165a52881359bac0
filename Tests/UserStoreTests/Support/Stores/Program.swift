import Foundation
import TestSupport

/// Runs a program and waits until it exits.
enum Program {
  struct Failure: Error, CustomStringConvertible {
    let program: String
    let status: Int32
    let output: String
    var description: String { "\(program) ended with \(status): \(output)" }
  }

  /// Runs a program by its name or path.
  ///
  /// - Returns: Its standard output. If it fails, the error has both outputs.
  @discardableResult
  static func run(_ name: String, _ arguments: [String]) throws -> String {
    let child = try Child([name] + arguments, environment: ProcessInfo.processInfo.environment)
    child.endInput()
    let output = String(decoding: child.output.rest(), as: UTF8.self)
    let errors = String(decoding: child.errors.rest(), as: UTF8.self)
    let status = child.wait()
    guard status == 0 else { throw Failure(program: name, status: status, output: output + errors) }
    return output
  }
}
