import ArgumentParser
import UserStore

/// `usertool consumers`.
struct ConsumersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumers",
    abstract: "Print who follows the log by name, and how far behind; or forget one.",
    usage: """
      usertool consumers [<options>]
      usertool consumers remove <name> [<options>]
      """,
    discussion: """
      Examples:
        usertool consumers
        usertool consumers --format json
        usertool consumers remove sync --yes

      A consumer is made by watch --consumer NAME. Its lag is how many changes it has not acknowledged; none is shown \
      where the log does not go on from its position.
      """)

  enum Action: String, ExpressibleByArgument, CaseIterable {
    case remove
  }

  @Argument(help: "Without it, all are printed.")
  var action: Action?

  @Argument(help: "The consumer to remove.")
  var name: String?

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if action == .remove, name == nil { throw ValidationError("remove wants the name of a consumer") }
    if action == nil, yes || writing.isDryRun { throw ValidationError("nothing is removed without remove <name>") }
  }

  func run() throws {
    if let name { try remove(name) } else { try list() }
  }

  // MARK: Listing

  private func list() throws {
    let consumers = try common.withStore(.readOnly) { store in try store.read { try $0.consumers() } }
    let format = common.recordFormat
    var printer = RecordPrinter(
      format, columns: ["name", "revision", "lag", "at", "cursor"], to: Output(), common.style)
    for consumer in consumers { printer.print(Self.record(of: consumer, isReadable: format == .table)) }
    printer.end()
  }

  private static func record(of consumer: ConsumerInfo, isReadable: Bool) -> Record {
    let time = Timestamp(milliseconds: consumer.timestamp)
    return Record(fields: [
      ("name", .text(consumer.name)), ("revision", .integer(consumer.cursor.revision.rawValue)),
      ("lag", consumer.lag.map { .integer(Int64($0)) } ?? .null), ("at", .text(isReadable ? time.local : time.utc)),
      ("cursor", .text(consumer.cursor.description)),
    ])
  }

  // MARK: Removing

  private func remove(_ name: String) throws {
    if !yes, !writing.isDryRun, !(System.isTerminal(0) && System.isTerminal(2)) {
      throw Failure(.usage, "remove forgets a position, and there is nobody to ask", hint: "repeat it with --yes")
    }
    let consumer = try common.withStore(.readOnly) { try find(name, in: $0) }
    if writing.isDryRun { return common.note("dry run: would remove \"\(name.shown)\"") }
    guard yes || ask(consumer) else { throw Failure(.failure, "nothing was removed") }
    let isRemoved = try common.withStore(.readWrite) { store in try store.removeConsumer(name) }
    common.note(isRemoved ? "removed \"\(name.shown)\"" : "unchanged")
  }

  private func find(_ name: String, in store: UserStore) throws -> ConsumerInfo {
    let consumers = try store.read { try $0.consumers() }
    if let consumer = consumers.first(where: { $0.isNamed(name) }) { return consumer }
    let question = Suggestion.question(for: name, among: consumers.map(\.name))
    throw Failure(.notFound, "no consumer \"\(name)\"" + question, hint: "usertool consumers shows all")
  }

  private func ask(_ consumer: ConsumerInfo) -> Bool {
    let lag = consumer.lag.map { ", \($0) changes behind" } ?? ""
    Messages.shared.write(
      "Forget where \"\(consumer.name.shown)\" is (revision \(consumer.cursor.revision)\(lag))? [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }
}

extension ConsumerInfo {
  /// By its bytes, as the database compares: Swift's `==` takes two spellings of é for one.
  func isNamed(_ name: String) -> Bool {
    self.name.utf8.elementsEqual(name.utf8)
  }
}
