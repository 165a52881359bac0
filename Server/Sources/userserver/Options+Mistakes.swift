import ArgumentParser
import Foundation

extension Options {
  /// Throws for a repeated option, since the parser would ignore the first one.
  static func checkOnce(_ arguments: [String]) throws(Failure) {
    let names = arguments.filter { $0.hasPrefix("--") }.map { $0.prefix { $0 != "=" } }
    let repeatable = ["--host", "--allow-origin"]
    for (index, name) in names.enumerated() where names[..<index].contains(name) && !repeatable.contains(String(name)) {
      throw Failure(64, "\(name) is given twice", hint: "see \(command(arguments)) --help")
    }
  }

  /// A correction of a command line that the parser refuses, whose mistake only the message identifies.
  static func hint(for message: String, _ arguments: [String]) -> String {
    if ["--port", "-p"].contains(where: { message.contains("Unknown option '\($0)'") }) {
      let port = arguments.lazy.compactMap { UInt16($0.drop { !$0.isNumber }) }.first ?? 8080
      return "did you mean --listen 127.0.0.1:\(port)?"
    }
    if ["--heartbeat", "--stream-age", "--for"].contains(where: message.contains) {
      return "a time is a whole number with a unit: 500ms, 15s, 5m, or 1h"
    }
    if message.contains("'--listen") { return "an address is HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080" }
    if ["'--read ", "'--write "].contains(where: message.contains) { return "ids are written as 1,2,-5, or all" }
    return "see \(command(arguments)) --help"
  }

  /// The command whose help has what the arguments can be.
  private static func command(_ arguments: [String]) -> String {
    if arguments.first != "token" { return "userserver" }
    let names = TokenCommand.configuration.subcommands.map { $0._commandName }
    return (["userserver", "token"] + arguments.dropFirst().prefix(1).filter(names.contains)).joined(separator: " ")
  }
}
