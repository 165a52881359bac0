import ArgumentParser
import UserStore
import UserStoreText

struct IndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "List, add, or remove indexes of attributes.",
    usage: """
      usertool index [list] [<options>]
      usertool index add <attribute> ... [<options>]
      usertool index remove <attribute> ... [<options>]
      """,
    discussion: """
      Examples:
        usertool index add age
        usertool index
        usertool index remove age

      With an index, usertool list finds users by the attribute, and sorts by it, without reading all users. In return, \
      each write of the attribute takes longer, and the file grows. The index is a part of the file: every program that \
      uses the file uses it. While an index is built, other writers wait. An index that is interrupted is not added.
      """)

  enum Action: String, ExpressibleByArgument, CaseIterable {
    case list, add, remove
  }

  @Argument(help: "The action; if omitted, all indexes are listed.")
  var action: Action = .list

  @Argument(help: "The attributes.")
  var attributes: [AttributeName] = []

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if action != .list, attributes.isEmpty { throw ValidationError("\(action.rawValue) needs an attribute") }
    if action == .list, !attributes.isEmpty || writing.isDryRun {
      throw ValidationError("attributes and --dry-run need add or remove")
    }
    if attributes.contains("id") { throw ValidationError("users are always found by id without an index") }
  }

  func run() throws {
    switch action {
    case .list: try list()
    case .add: try common.withStore(writing.isDryRun ? .readOnly : .readWrite) { try add(to: $0) }
    case .remove: try common.withStore(writing.isDryRun ? .readOnly : .readWrite) { try remove(from: $0) }
    }
  }

  private func list() throws {
    let indexes = try common.read { try $0.indexes }
    common.print(["attribute"], indexes.map { [.text($0.text)] })
    if indexes.isEmpty { common.note("there are no indexes") }
  }

  // MARK: Adding

  private func add(to store: UserStore) throws {
    let indexes = try store.read { try $0.indexes }
    for attribute in attributes {
      if indexes.contains(attribute) {
        common.note("unchanged: \"\(attribute.shown)\" has an index")
        continue
      }
      let note = try note(on: attribute, in: store)
      if writing.isDryRun {
        common.note("dry run: would index \"\(attribute.shown)\"")
      } else {
        try build(attribute, in: store)
      }
      if let note { common.note(note) }
    }
  }

  private func build(_ attribute: AttributeName, in store: UserStore) throws {
    let isNew = try common.showProgress("indexing \(attribute.shown)") { _ in try store.addIndex(on: attribute) }
    // Another program may have been faster.
    common.note(isNew ? "indexed \"\(attribute.shown)\"" : "unchanged: \"\(attribute.shown)\" has an index")
  }

  /// A note if no user has the attribute; this takes less time than building the index.
  private func note(on attribute: AttributeName, in store: UserStore) throws -> String? {
    var unknown = UnknownAttributes([attribute])
    return try store.read { try unknown.notes(&$0, isWhole: true) }.first
  }

  // MARK: Removing

  private func remove(from store: UserStore) throws {
    let indexes = try store.read { try $0.indexes }
    if let missing = attributes.first(where: { !indexes.contains($0) }) {
      throw Failure(
        .notFound, "\"\(missing)\" has no index" + Suggestion.question(for: missing, among: indexes),
        hint: "usertool index lists all indexes; nothing was changed")
    }
    for attribute in attributes {
      if writing.isDryRun {
        common.note("dry run: would remove the index of \"\(attribute.shown)\"")
      } else {
        let isRemoved = try store.removeIndex(on: attribute)
        let name = "\"\(attribute.shown)\""
        // The attribute may be given twice, or another program may have been faster.
        common.note(isRemoved ? "removed the index of \(name)" : "unchanged: \(name) has no index any more")
      }
    }
  }
}
