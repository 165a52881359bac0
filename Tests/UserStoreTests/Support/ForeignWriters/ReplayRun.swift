import TestSupport
import Testing

@testable import UserStore

/// The settings of a foreign writer's connection.
struct WriterSettings: CustomTestStringConvertible {
  let recursiveTriggers: Bool
  let foreignKeys: Bool

  static let all = [false, true].flatMap { recursiveTriggers in
    [false, true].map { WriterSettings(recursiveTriggers: recursiveTriggers, foreignKeys: $0) }
  }

  var sql: String {
    let onOff = { (isOn: Bool) in isOn ? "ON" : "OFF" }
    return "PRAGMA trusted_schema = OFF; PRAGMA recursive_triggers = \(onOff(recursiveTriggers)); "
      + "PRAGMA foreign_keys = \(onOff(foreignKeys));"
  }

  var testDescription: String { sql }
}

/// A foreign writer on a new database, whose log is replayed after each of its statements.
struct ReplayRun {
  static let stepCount = 100

  let schema: String
  /// SQL for further objects, which the twin has too.
  var rules = ""
  /// The unique attributes, of which no value may have two users.
  var unique: [AttributeIndex] = []
  let settings: WriterSettings
  let seed: UInt64

  /// Runs until the log differs from the tables, or the tables differ from those of the twin, which has no log.
  ///
  /// - Returns: How they came to differ, or nil if they never did.
  func failure() throws -> ReplayFailure? {
    let connection = try PlainConnection()
    // Small pages, so that values of moderate size fill several.
    try connection.script("PRAGMA page_size = \(512 << (seed % 3)); \(schema); \(rules); \(settings.sql)")
    var generator = StepGenerator(seed: seed)
    var steps: [Step] = []
    do {
      try run(on: connection) {
        steps.append(generator.next())
        return steps[steps.count - 1]
      }
      return nil
    } catch let mismatch as Mismatch {
      return ReplayFailure(run: self, steps: steps, mismatch: mismatch)
    }
  }

  private func run(on connection: PlainConnection, next: () -> Step) throws {
    let twin = try Twin(rules: rules)
    let varying = VaryingFunction(on: connection)
    defer { withExtendedLifetime(varying) {} }
    var check = LogCheck()
    for index in 0..<Self.stepCount {
      let step = next()
      for numbers in [varying, twin.varying] { numbers.reset(seed: seed &+ UInt64(index)) }
      let error = connection.error(of: step)
      try check.check(connection)
      for index in unique {
        let duplicates = try connection.run(index.duplicates.text)
        guard duplicates.isEmpty else {
          throw Mismatch("several users have the same \(index.attribute): \(duplicates)")
        }
      }
      try twin.check(step, error: error, on: connection)
    }
    var fromTheStart = LogCheck()
    try fromTheStart.check(connection)
    guard try connection.value("PRAGMA integrity_check") == "ok" else { throw Mismatch("the database is malformed") }
  }
}

/// A run that failed, with everything that reproduces it.
struct ReplayFailure: CustomStringConvertible {
  let run: ReplayRun
  let steps: [Step]
  let mismatch: Mismatch

  var description: String {
    let script = [run.settings.sql] + steps.map(\.description)
    return "USERSTORE_SEED=\(run.seed), step \(steps.count): \(mismatch)\nIt happened in:\n"
      + script.joined(separator: "\n")
  }
}
