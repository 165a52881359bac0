import ArgumentParser
import UserStore
import UserStoreText

struct UniqueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unique",
    abstract: "List, add, or remove unique attributes.",
    usage: """
      usertool unique [list] [<options>]
      usertool unique add <attribute> ... [--ignore-case] [<options>]
      usertool unique remove <attribute> ... [<options>]
      """,
    discussion: """
      Examples:
        usertool unique add email --ignore-case
        usertool unique
        usertool unique remove email

      No two users can have the same value of a unique attribute, whichever program writes it. The attribute gets an index. \
      If several users have the same value already, the attribute does not become unique, and the message names them. \
      Other writers wait meanwhile.
      """)

  @Argument(help: "The action; if omitted, all unique attributes are listed.")
  var action: IndexCommand.Action = .list

  @Argument(help: "The attributes.")
  var attributes: [AttributeName] = []

  @Flag(name: .customLong("ignore-case"), help: "The letters A to Z equal a to z.")
  var ignoresCase = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if action != .list, attributes.isEmpty { throw ValidationError("\(action.rawValue) needs an attribute") }
    if action == .list, !attributes.isEmpty || writing.isDryRun {
      throw ValidationError("attributes and --dry-run need add or remove")
    }
    if ignoresCase, action != .add { throw ValidationError("--ignore-case needs add") }
    if attributes.contains("id") { throw ValidationError("the id is always unique") }
  }

  func run() throws {
    switch action {
    case .list: try list()
    case .add: try common.withStore(writing.isDryRun ? .readOnly : .readWrite) { try add(to: $0) }
    case .remove: try common.withStore(writing.isDryRun ? .readOnly : .readWrite) { try remove(from: $0) }
    }
  }

  private func list() throws {
    let unique = try common.read { try $0.uniqueAttributes }
    common.print(
      ["attribute", "case"], unique.map { [.text($0.attribute.text), .text($0.ignoresCase ? "ignored" : "matters")] })
    if unique.isEmpty { common.note("no attribute is unique") }
  }

  private func add(to store: UserStore) throws {
    for attribute in attributes {
      let name = "\"\(attribute.shown)\""
      if writing.isDryRun {
        let count = try store.read { try $0.duplicates(of: attribute, ignoringCase: ignoresCase) }.count
        let conflicts = "\(count) value\(count == 1 ? " belongs" : "s belong") to several users"
        if count > 0 { throw Failure(.conflict, "\(name) cannot be unique: \(conflicts)") }
        common.note("dry run: would make \(name) unique")
      } else {
        let isNew = try common.showProgress("checking \(attribute.shown)") { _ in
          try store.addUnique(on: attribute, ignoringCase: ignoresCase)
        }
        common.note(isNew ? "\(name) is unique now" : "unchanged: \(name) is unique")
      }
    }
  }

  private func remove(from store: UserStore) throws {
    let unique = try store.read { try $0.uniqueAttributes }.map(\.attribute)
    if let other = attributes.first(where: { !unique.contains($0) }) {
      throw Failure(
        .notFound, "\"\(other.shown)\" is not unique" + Suggestion.question(for: other, among: unique),
        hint: "usertool unique lists the unique attributes; nothing was changed")
    }
    for attribute in attributes {
      let name = "\"\(attribute.shown)\""
      if writing.isDryRun {
        common.note("dry run: would make \(name) not unique")
      } else {
        // The attribute may be given twice, or another program may have been faster.
        let isRemoved = try store.removeUnique(on: attribute)
        common.note(isRemoved ? "\(name) is not unique any more" : "unchanged: \(name) is not unique")
      }
    }
  }
}
