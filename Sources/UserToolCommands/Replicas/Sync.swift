import ArgumentParser
import UserStore
import UserStoreSync
import UserStoreText

struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Show what a replica still has to send, and what its server has refused.",
    usage: """
      usertool sync [status] [<options>]
      usertool sync refusals [<options>]
      usertool sync acknowledge <revision> ... [<options>]
      usertool sync acknowledge --all [<options>]
      usertool sync discard [<options>]
      """,
    discussion: """
      Examples:
        usertool sync status --db copy.db
        usertool sync refusals --db copy.db
        usertool sync acknowledge 12 --db copy.db
        usertool sync discard --db copy.db --yes

      follow --write lets programs write to a replica, and sends each write to the server, which accepts or refuses it whole. \
      pending is the number of writes that the server has not decided, the oldest of them since the time shown. A refused \
      write is taken back in the database, and listed by refusals until it is acknowledged. discard gives up what the server \
      has not decided; the server may have accepted a part of it that was sent without an answer. None of them needs the network.
      """)

  enum Action: String, ExpressibleByArgument, CaseIterable {
    case status, refusals, acknowledge, discard
  }

  @Argument(help: "The action; if omitted, the status is shown.")
  var action: Action = .status

  @Argument(help: ArgumentHelp("The revisions of the refusals, as refusals shows them.", valueName: "revision"))
  var revisions: [Int64] = []

  @Flag(help: "Acknowledge all refusals.")
  var all = false

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if action == .acknowledge, revisions.isEmpty != all {
      throw ValidationError("acknowledge needs revisions, or --all")
    }
    if action != .acknowledge, !revisions.isEmpty || all {
      throw ValidationError("revisions and --all need acknowledge")
    }
    if action != .discard, yes { throw ValidationError("--yes needs discard") }
    if [.status, .refusals].contains(action), writing.isDryRun {
      throw ValidationError("--dry-run needs acknowledge or discard")
    }
  }

  func run() async throws {
    let isAsked = action == .discard && !yes && !writing.isDryRun
    if isAsked { try Confirmation.requireTerminal("discard gives up changes") }
    let isWriting = [.acknowledge, .discard].contains(action) && !writing.isDryRun
    let store = try common.open(isWriting ? .readWrite : .readOnly)
    defer { store.close() }
    do {
      guard let status = try await Replica.status(of: store) else {
        throw Failure(
          .badData, "\(try common.database) is no replica",
          hint: "usertool follow makes a new database a replica of a server")
      }
      switch action {
      case .status: print(status)
      case .refusals: print(try await Replica.refusals(of: store))
      case .acknowledge: try await acknowledge(Replica.refusals(of: store))
      case .discard: try await discard(status, in: store, isAsked: isAsked)
      }
    } catch let error as StoreError {
      throw Failure(error, ofReplica: try common.database)
    }
  }

  // MARK: Showing

  private func print(_ status: Replica.Status) {
    let isReadable = common.recordFormat == .table
    let since = status.oldestPending.map { Timestamp(milliseconds: $0) }
    let users: StoredValue =
      switch status.users {
      case .all: isReadable ? .text("all") : .null
      case .ids(let ids): .integer(Int64(ids.count))
      }
    let fields: [(name: String, value: StoredValue)] = [
      ("server", .text(status.address)), ("subject", .text(status.subject)), ("users", users),
      ("writes", .text(status.takesWrites ? "queued" : "none")),
      ("state", .text(status.isCopying ? "copying" : "following")),
      ("pending", .integer(Int64(status.pending))),
      ("since", since.map { .text(isReadable ? $0.local : $0.utc) } ?? .null),
      ("refusals", .integer(Int64(status.refusals))),
      ("cursor", status.cursor.map { .text($0.description) } ?? .null),
    ]
    // People need not read what is not there.
    let shown = fields.filter { !isReadable || !$0.value.isNull && $0.value != .text("") }
    var printer = makePrinter(shown.map(\.name))
    printer.print(Record(fields: shown))
    printer.end()
    if status.refusals > 0 {
      common.note(Arguments.withDatabase("usertool sync refusals shows what the server has refused").shown)
    }
  }

  private func print(_ refusals: [Replica.Refusal]) {
    var printer = makePrinter(["revision", "reason", "detail", "changes"])
    for refusal in refusals {
      let fields: [(name: String, value: StoredValue)] = [
        ("revision", .integer(refusal.revision.rawValue)), ("reason", .text(refusal.reason.rawValue)),
        ("detail", refusal.detail.map { .text($0) } ?? .null),
      ]
      let entries = refusal.changes.map { Entry($0) }
      let json = JSON.object(
        fields.map { ($0.name, $0.value.jsonValue) } + [("changes", .list(entries.map { $0.record.json }))])
      let text = ReadableStream.summary(of: entries, atMost: Self.mostChanges)
      printer.print(Record(fields: fields + [("changes", .text(text))]), json: json)
    }
    printer.end()
    if refusals.isEmpty { common.note("nothing is refused") }
  }

  /// The number of changes of a refusal that a line of text shows; JSON has all.
  private static let mostChanges = 20

  /// A printer that turns a table that is too wide for the terminal, so that nothing is cut.
  private func makePrinter(_ columns: [String]) -> RecordPrinter {
    let fit = System.columns(of: System.standardOutput).map { RecordTable.Fit.turned(at: $0) }
    return RecordPrinter(common.recordFormat, columns: columns, to: Output(), common.style, fit: fit ?? .none)
  }

  // MARK: Deciding

  private func acknowledge(_ refusals: [Replica.Refusal]) async throws {
    let known = refusals.map(\.revision.rawValue)
    if let unknown = revisions.first(where: { !known.contains($0) }) {
      throw Failure(
        .notFound, "nothing is refused at revision \(unknown)",
        hint: "usertool sync refusals lists the refusals; nothing was changed")
    }
    let chosen = all ? refusals : refusals.filter { revisions.contains($0.revision.rawValue) }
    if !writing.isDryRun { for refusal in chosen { try await refusal.acknowledge() } }
    let count = "\(chosen.count) refusal\(chosen.count == 1 ? "" : "s")"
    if chosen.isEmpty { return common.note("unchanged: nothing is refused") }
    common.note(writing.isDryRun ? "dry run: would acknowledge \(count)" : "acknowledged \(count)")
  }

  private func discard(_ status: Replica.Status, in store: UserStore, isAsked: Bool) async throws {
    func sets(_ count: Int) -> String { "\(count) write\(count == 1 ? "" : "s")" }
    if writing.isDryRun { return common.note("dry run: would give up \(sets(status.pending))") }
    if isAsked {
      try Confirmation.ask(
        "Give up \(sets(status.pending)) that the server has not decided?", otherwise: "nothing was given up")
    }
    let count = try await Replica.discardPending(of: store)
    common.note(count > 0 ? "gave up \(sets(count))" : "unchanged: there is nothing to send")
  }
}
