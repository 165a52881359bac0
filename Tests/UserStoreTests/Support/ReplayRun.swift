import TestSupport
import Testing

/// What a foreign writer may have turned on or off on its connection.
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

/// A foreign writer at work on a new database, and somebody who replays the log after each of its statements.
struct ReplayRun {
  static let stepCount = 100

  let schema: String
  let settings: WriterSettings
  let seed: UInt64

  /// Runs until the log and the tables differ, or the tables and what the writer asked for.
  ///
  /// - Returns: how they came to differ; nil if they never did.
  func failure() throws -> ReplayFailure? {
    let connection = try PlainConnection()
    // Small pages, so that values that are not large fill several.
    try connection.script("PRAGMA page_size = \(512 << (seed % 3)); \(schema); \(settings.sql)")
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
    let twin = try Twin()
    let anew = Anew(on: connection)
    defer { withExtendedLifetime(anew) {} }
    var check = LogCheck()
    for index in 0..<Self.stepCount {
      let step = next()
      for numbers in [anew, twin.anew] { numbers.reset(seed: seed &+ UInt64(index)) }
      let error = connection.error(of: step)
      try check.check(connection)
      try twin.repeating(step, error: error, on: connection)
    }
    var fromTheStart = LogCheck()
    try fromTheStart.check(connection)
    guard try connection.value("PRAGMA integrity_check") == "ok" else { throw Mismatch("the database is malformed") }
  }
}

/// A run that failed, with all that is needed to see it again.
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
