import ArgumentParser
import UserStore
import UserStoreText

struct ConsumersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumers",
    abstract: "List the named consumers and how far behind they are, or remove one.",
    usage: """
      usertool consumers [<options>]
      usertool consumers remove <name> [<options>]
      """,
    discussion: """
      Examples:
        usertool consumers
        usertool consumers --format json
        usertool consumers remove sync --yes

      watch --consumer NAME creates a consumer. Its lag is the number of changes that it has not acknowledged. If the log \
      does not continue from its position, no lag is shown.
      """)

  enum Action: String, ExpressibleByArgument, CaseIterable {
    case remove
  }

  @Argument(help: "The action; if omitted, all consumers are listed.")
  var action: Action?

  @Argument(help: "The consumer to remove.")
  var name: String?

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if action == .remove, name == nil { throw ValidationError("remove needs the name of a consumer") }
    if action == nil, yes || writing.isDryRun { throw ValidationError("--yes and --dry-run need remove <name>") }
  }

  func run() throws {
    if let name { try remove(name) } else { try list() }
  }

  // MARK: Listing

  private func list() throws {
    let isReadable = common.recordFormat == .table
    let rows = try common.read { try $0.consumers() }.map { consumer -> [StoredValue] in
      let time = Timestamp(milliseconds: consumer.timestamp)
      return [
        .text(consumer.name), .integer(consumer.cursor.revision.rawValue),
        consumer.lag.map { .integer(Int64($0)) } ?? .null, .text(isReadable ? time.local : time.utc),
        .text(consumer.cursor.description),
      ]
    }
    common.print(["name", "revision", "lag", "at", "cursor"], rows)
  }

  // MARK: Removing

  private func remove(_ name: String) throws {
    let isAsked = !yes && !writing.isDryRun
    if isAsked { try Confirmation.requireTerminal("remove deletes a consumer's position") }
    let consumer = try find(name, among: try common.read { try $0.consumers() })
    if writing.isDryRun { return common.note("dry run: would remove \"\(name.shown)\"") }
    if isAsked { try Confirmation.ask(question(about: consumer), otherwise: "nothing was removed") }
    let isRemoved = try common.withStore(.readWrite) { store in try store.removeConsumer(name) }
    common.note(isRemoved ? "removed \"\(name.shown)\"" : "unchanged")
  }

  private func find(_ name: String, among consumers: [ConsumerInfo]) throws(Failure) -> ConsumerInfo {
    if let consumer = consumers.first(where: { $0.isNamed(name) }) { return consumer }
    let question = Suggestion.question(for: name, among: consumers.map(\.name))
    throw Failure(.notFound, "no consumer \"\(name)\"" + question, hint: "usertool consumers lists all consumers")
  }

  private func question(about consumer: ConsumerInfo) -> String {
    let lag = consumer.lag.map { ", \($0) changes behind" } ?? ""
    return "Remove the consumer \"\(consumer.name.shown)\" (at revision \(consumer.cursor.revision)\(lag))?"
  }
}

extension ConsumerInfo {
  /// Compares the names by their bytes, as the database does; Swift's `==` treats two spellings of é as equal.
  func isNamed(_ name: String) -> Bool { self.name.hasSameBytes(as: name) }
}
