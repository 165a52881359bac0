import ArgumentParser
import UserStore
import UserStoreText

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the database for damage, and the log against the records.",
    usage: "usertool check [<options>]",
    discussion: """
      Examples:
        usertool check
        usertool check --db users-2026-11-21.db --format json
        usertool check --repair

      check does not change records or the log. --repair re-creates the log's triggers if they are missing or changed. \
      Since the log does not contain what was written without them, it also starts a new log, and saved cursors report \
      that it diverged. If a crash left commits in the -wal file, check, like any command, copies them into the database.

      The exit code is 1 if there are problems, and 0 if there are only warnings or no findings. Findings go to standard \
      output; notes about the SQLite library go to standard error.
      """)

  @Flag(help: "Re-create missing or changed triggers.")
  var repair = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    if repair, case .postgres = try common.database {
      throw Failure(
        .usage, "--repair is only for files",
        hint: "as the owner, in psql: ALTER TABLE … ENABLE ALWAYS TRIGGER …, then SELECT userstore.renew()")
    }
    var findings = try look()
    let triggers = findings.count { $0.kind == .trigger }
    if repair, triggers > 0 {
      if !writing.isDryRun {
        try common.withStore(.readWrite) { _ in }
        findings = try look()
      }
      let done = writing.isDryRun ? "dry run: would re-create" : "re-created"
      common.note("\(done) \(Self.count(triggers, "trigger")); a new log starts, and saved cursors diverge")
    }
    print(findings)
    let problems = findings.count { $0.severity == .problem }
    let warnings = findings.count { $0.severity == .warning }
    common.note("\(try common.database): \(Self.count(problems, "problem")), \(Self.count(warnings, "warning"))")
    if case .file = try common.database {
      for note in UserStore.checkLibrary() { common.note("note: \(note.message)") }
    }
    if problems > 0 { throw Exit(status: .failure) }
  }

  private func look() throws -> [Finding] {
    let database = try common.database
    var configuration = Configuration()
    configuration.busyTimeout = common.busyTimeout.duration
    return try common.showProgress("checking") { progress in
      switch database {
      case .file(let path):
        try UserStore.check(path: path, busyTimeout: configuration.busyTimeout) { progress.note($0) }
      case .postgres(let url): try ServerEngine.required().check(url, configuration)
      }
    }
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    (number == 0 ? "no" : "\(number)") + " " + noun + (number == 1 ? "" : "s")
  }

  private func print(_ findings: [Finding]) {
    common.print(
      ["severity", "kind", "user", "attribute", "message"],
      findings.map { finding in
        [
          .text(finding.severity.rawValue), .text(finding.kind.rawValue),
          finding.user.map { .integer($0.rawValue) } ?? .null, finding.attribute.map { .text($0.text) } ?? .null,
          .text(finding.message),
        ]
      })
  }
}
