import ArgumentParser
import UserStore

/// `usertool check`.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Look for damage, and for a log that does not tell what the records hold.",
    usage: "usertool check [<options>]",
    discussion: """
      Examples:
        usertool check
        usertool check --db users-2026-11-21.db --format json
        usertool check --repair

      No record and no log row is written, unless --repair is given and triggers of the log are missing: they are made \
      again, and since the log does not say what happened without them, a new one begins. Saved cursors report that it \
      diverged. What a crash left in the -wal file is copied into the database, as after any read.

      Exit code 1 when there are problems; 0 when there are none, whatever the warnings. Without either nothing is \
      printed on standard output: what is known of the SQLite library is a note on standard error.
      """)

  @Flag(help: "Make missing or changed triggers again.")
  var repair = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    var findings = try look()
    let triggers = findings.count { $0.kind == .trigger }
    if repair, triggers > 0 {
      if !writing.isDryRun {
        try common.withStore(.readWrite) { _ in }
        findings = try look()
      }
      let made = writing.isDryRun ? "dry run: would make" : "made"
      common.note("\(made) \(triggers) trigger\(triggers == 1 ? "" : "s") again; the log begins anew, cursors diverge")
    }
    print(findings)
    let problems = findings.count { $0.severity == .problem }
    common.note("\(try common.path.shown): \(Self.count(problems, "problem")), \(warnings(findings))")
    for note in UserStore.checkLibrary() { common.note("note: \(note.message)") }
    if problems > 0 { throw Exit(status: .failure) }
  }

  private func look() throws -> [Finding] {
    let ticker = Ticker("checking", isQuiet: common.quiet)
    defer { ticker.end() }
    return try UserStore.check(
      path: try common.path, busyTimeout: common.busyTimeout.duration, progress: ticker.note)
  }

  private func warnings(_ findings: [Finding]) -> String {
    Self.count(findings.count { $0.severity == .warning }, "warning")
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    (number == 0 ? "no" : "\(number)") + " " + noun + (number == 1 ? "" : "s")
  }

  private func print(_ findings: [Finding]) {
    let columns = ["severity", "kind", "user", "attribute", "message"]
    var printer = RecordPrinter(common.recordFormat, columns: columns, to: Output(), common.style)
    for finding in findings {
      printer.print(
        Record(fields: [
          ("severity", .text(finding.severity.rawValue)), ("kind", .text(finding.kind.rawValue)),
          ("user", finding.user.map { .integer($0.rawValue) } ?? .null),
          ("attribute", finding.attribute.map { .text($0.text) } ?? .null), ("message", .text(finding.message)),
        ]))
    }
    printer.end()
  }
}
