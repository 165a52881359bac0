import Foundation

@testable import UserStore

/// What who reads a store makes of its files: the records, or an error; and what `check` says.
struct Survey: CustomStringConvertible {
  /// nil when they cannot be read.
  private(set) var users: [User]?
  /// Whether all of the log could be read.
  private(set) var hasLog = false
  private(set) var errors: [StoreError] = []
  private(set) var findings: [Finding] = []

  /// Looks at a file, and lets it be.
  ///
  /// - Throws: what is no error of the store, and what no reader may be told.
  init(_ path: String) throws {
    try attempt { survey throws in
      let store = try UserStore(path: path, configuration: Self.reading)
      defer { store.close() }
      try survey.attempt { survey throws in survey.users = try store.read { try $0.users() } }
      try survey.attempt { survey throws in
        for set in try store.allChanges() { try set.forEach { _ in } }
        survey.hasLog = true
      }
    }
    try attempt { survey throws in survey.findings = try UserStore.check(path: path, busyTimeout: .zero) }
  }

  private static var reading: Configuration {
    var configuration = Configuration()
    (configuration.access, configuration.watchesOtherProcesses) = (.readOnly, false)
    return configuration
  }

  private mutating func attempt(_ body: (inout Survey) throws -> Void) throws {
    do { try body(&self) } catch let error as StoreError {
      if error.code == .unexpected { throw error }
      errors.append(error)
    }
  }

  /// Whether somebody said that something is wrong.
  var isAlarmed: Bool { !errors.isEmpty || findings.contains { $0.severity == .problem } }

  /// Whether all could be read, and nothing is wrong.
  var isSound: Bool { users != nil && hasLog && !isAlarmed }

  var description: String { "users \(users.map { "\($0)" } ?? "-"), \(errors), \(findings.map(\.message))" }
}
