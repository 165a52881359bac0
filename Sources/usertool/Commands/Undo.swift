import ArgumentParser
import UserStore

/// `usertool undo`.
struct UndoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Take a write back, and print what each listener hears.",
    usage: "usertool undo [<revision>] [<options>]",
    discussion: """
      Examples:
        usertool undo                  # the last write, of whichever user
        usertool undo 12 --dry-run
        usertool log --limit 20        # shows the revisions

      Every value becomes what it was before; it is a write of its own, so a second undo takes the first one back. A user \
      that was removed comes back with the same id. When a value was changed since, nothing is undone (exit 4). What \
      other programs wrote has no end of its own, and cannot be undone.
      """)

  @Argument(help: "The revision at which the write ended; the newest one otherwise.")
  var revision: Int64?

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if let revision, revision < 1 { throw ValidationError("a revision is a number from 1") }
  }

  func run() throws {
    let telling = Telling(common: common, standIns: listening.standIns, isDryRun: writing.isDryRun)
    var undone: Revision?
    try telling.run(origin: "undo") { transaction in
      do throws(StoreError) {
        undone = try transaction.undo(revision.map { Revision(rawValue: $0) })
      } catch {
        throw Failure(error, hint: Self.hint(for: error.code))
      }
    }
    if let undone { common.note("\(writing.isDryRun ? "this would undo" : "undone:") revision \(undone)") }
  }

  private static func hint(for code: StoreError.Code) -> String? {
    switch code {
    case .conflict: "nothing was undone; usertool log shows what came since, and set puts a single value back"
    case .revisionNotFound, .compacted: "usertool log shows the revisions that there are"
    default: nil
    }
  }
}
