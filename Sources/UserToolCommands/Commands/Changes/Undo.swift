import ArgumentParser
import UserStore

struct UndoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undo a write and print each listener's updates.",
    usage: "usertool undo [<revision>] [<options>]",
    discussion: """
      Examples:
        usertool undo                  # the last write, of any user
        usertool undo 12 --dry-run
        usertool log --limit 20        # shows the revisions

      An undo restores every value that the write changed. It is a write itself, so a second undo reverts the first. A \
      removed user is restored with the same id. If one of the values has changed since, nothing is undone (exit 4). \
      Writes by other programs have no recorded end and cannot be undone.
      """)

  @Argument(help: "The revision at which the write ended; the newest if omitted.")
  var revision: Int64?

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if let revision, revision < 1 { throw ValidationError("a revision must be 1 or more") }
  }

  func run() throws {
    let write = ReportedWrite(common: common, standIns: listening.standIns, isDryRun: writing.isDryRun)
    var undone: Revision?
    try write.run(origin: "undo") { transaction in
      do throws(StoreError) {
        undone = try transaction.undo(revision.map { Revision(rawValue: $0) })
      } catch {
        throw Failure(error, hint: Self.hint(for: error.code))
      }
    }
    if let undone { common.note("\(writing.isDryRun ? "dry run: would undo" : "undid") revision \(undone)") }
  }

  private static func hint(for code: StoreError.Code) -> String? {
    switch code {
    case .conflict: "nothing was undone; usertool log shows later changes, and usertool set restores a single value"
    case .revisionNotFound, .compacted: "usertool log lists the revisions"
    default: nil
    }
  }
}
