import Foundation

@testable import UserStore

/// What a reader gets from a store's files, the records or errors, and what `check` reports.
struct Survey: CustomStringConvertible {
  /// Nil if the records cannot be read.
  private(set) var users: [User]?
  /// Whether the whole log could be read.
  private(set) var hasLog = false
  private(set) var errors: [StoreError] = []
  private(set) var findings: [Finding] = []

  /// Reads and checks a file without changing it.
  ///
  /// - Throws: Errors that are not a `StoreError`, and those with the code `unexpected`, which a reader must never get.
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

  /// Whether an error or a problem was reported.
  var isAlarmed: Bool { !errors.isEmpty || findings.contains { $0.severity == .problem } }

  /// Whether everything could be read and no problem was reported.
  var isSound: Bool { users != nil && hasLog && !isAlarmed }

  var description: String { "users \(users.map { "\($0)" } ?? "-"), \(errors), \(findings.map(\.message))" }
}
