import UserStore
import UserStoreText

struct ListPage {
  let request: ListRequest
  let common: CommonOptions
  var notes: [String] = []

  private var query: Query { request.query }

  mutating func print() throws {
    let fit = System.columns(of: System.standardOutput).map { RecordTable.Fit.cut(to: $0) }
    // A server ends a transaction whose client pauses, as a slow reader of the output would make it do.
    let isOnServer = if case .postgres = try common.database { true } else { false }
    var printer = RecordPrinter(
      common.recordFormat, columns: nil, to: Output(holdsAll: isOnServer), common.style, fit: fit ?? .none,
      first: request.attributes)
    try common.read { try read(&$0, to: &printer) }
    printer.end()
    for note in notes { common.note(note) }
  }

  /// Users are printed as they are read, so that a long list of a file takes no memory.
  private mutating func read(_ transaction: inout ReadTransaction, to printer: inout RecordPrinter) throws {
    try request.check(in: &transaction)
    var unknown = UnknownAttributes(request.attributes)
    var count = 0
    var last: User?
    var hasMore = false
    var query = query
    // One more user shows whether there is a next page.
    query.limit = query.limit.map { $0 < Int.max ? $0 + 1 : $0 }
    try transaction.iterateUsers(matching: query) { user in
      if count == self.query.limit {
        hasMore = true
        return false
      }
      count += 1
      last = user
      unknown.look(at: user)
      printer.print(user.record, plain: user.plainRecord)
      return true
    }
    if count == 0, try transaction.users(matching: Query(limit: 1, showing: [])).isEmpty {
      notes.append(Arguments.withDatabase("there are no users yet; add one with usertool add NAME").shown)
    } else {
      if count == 0, System.isTerminal(1) { notes.append("no \(query.start == nil ? "" : "further ")user matches") }
      notes += try unknown.notes(&transaction, isWhole: !hasMore || !query.sortedBy.isEmpty)
      if count == 0, query.start == nil { notes += try request.selection.hints(&transaction) }
    }
    if hasMore, let last { notes.append(more(after: last)) }
  }

  private func more(after user: User) -> String {
    guard let token = PageToken(after: query.position(of: user), sortedBy: query.sortedBy) else {
      return "there are more users; the values that this list is sorted by are too long for --after"
    }
    return "more: --after \(token.word)"
  }
}

extension PageToken {
  /// The text, quoted for a shell if necessary.
  var word: String { text.utf8.first == UInt8(ascii: "{") ? "'\(text)'" : text }
}
