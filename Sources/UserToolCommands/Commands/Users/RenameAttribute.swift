import ArgumentParser
import UserStore
import UserStoreText

struct RenameAttributeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename-attribute",
    abstract: "Give an attribute another name, for all users who have it.",
    usage: "usertool rename-attribute <old> <new> [<options>]",
    discussion: """
      Examples:
        usertool rename-attribute mail e-mail
        usertool rename-attribute mail e-mail --dry-run

      The values stay as they are. All users are changed in one write, which usertool undo can undo. If a user has both \
      attributes, nothing is changed (exit 4). An index stays on the old name. The name and the hair color of users \
      cannot be renamed.
      """)

  @Argument(help: "The attribute that users have.")
  var old: AttributeName

  @Argument(help: "Its new name.")
  var new: AttributeName

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    try common.withStore(.readWrite) { store in
      let count = try store.write(origin: "usertool", isDryRun: writing.isDryRun) { try rename(&$0) }
      report(count)
      var unknown = UnknownAttributes(count == 0 && old != new ? [old] : [])
      for note in try store.read({ try unknown.notes(&$0, isWhole: true) }) { common.note(note) }
    }
  }

  private func rename(_ transaction: inout WriteTransaction) throws -> Int {
    do throws(StoreError) { return try transaction.renameAttribute(old, to: new) } catch {
      guard error.code == .conflict else { throw error }
      let list = "usertool list --with \(old.text.shellWord()) --with \(new.text.shellWord()) shows them"
      throw Failure(error, hint: "nothing was changed; " + list)
    }
  }

  private func report(_ count: Int) {
    if count == 0 { return common.note("unchanged") }
    let change = "\"\(old.shown)\" to \"\(new.shown)\", for \(count == 1 ? "1 user" : "\(count) users")"
    common.note(writing.isDryRun ? "dry run: would rename \(change)" : "renamed \(change)")
  }
}
