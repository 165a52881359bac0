import UserStore
import UserStoreText

/// Shows a list until it is canceled, as a table on the terminal or as JSON.
struct ListFollower: Sendable {
  let common: CommonOptions
  let request: ListRequest

  func run() async throws {
    let isTable = common.liveFormat == .table
    if let revision = isTable ? try await showTable() : try await printStream() {
      noteEnd("stopped at revision \(revision)", isBelowTable: isTable)
    }
  }

  /// Prints the number of users each time it changes.
  func runCount() async throws {
    var printer = RecordPrinter(ofCountsIn: common.recordFormat, areMany: true, to: Output(), common.style)
    var isFirst = true
    try await follow { store in
      let count = try await store.liveCount(where: request.selection.condition)
      if isFirst { common.note("watching the number of users (Ctrl-C to stop)") }
      isFirst = false
      return count
    } show: { count in
      if let count { printer.print(count: count) }
    }
    printer.end()
    noteEnd("stopped")
  }

  private func noteEnd(_ message: String, isBelowTable: Bool = false) {
    guard Signals.shared.status != nil else { return }
    // The terminal shows no ^C while a table is drawn.
    common.note((isBelowTable ? "" : Signals.shared.lineEnd) + message)
  }

  private func printStream() async throws -> Revision? {
    var stream = ListStream(common.liveFormat, to: Output())
    var isFirst = true
    let revision = try await followList { rows in
      if isFirst, let revision = rows?.cursor?.revision {
        common.note("watching the list after revision \(revision) (Ctrl-C to stop)")
      }
      isFirst = false
      stream.show(rows)
    }
    stream.end()
    return revision
  }

  private func showTable() async throws -> Revision? {
    let screen = ListScreen(common.style, request)
    async let drawing: Void = screen.run()
    let result: Result<Revision?, any Error>
    do { result = .success(try await followList(screen.show)) } catch { result = .failure(error) }
    // Even after an error, which is reported below the table.
    screen.finish()
    await drawing
    return try result.get()
  }

  /// Calls `show` with each version of the list, and with nil when another file has replaced the database.
  ///
  /// - Returns: The revision of the last version; nil if there was none.
  private func followList(_ show: (Rows?) -> Void) async throws -> Revision? {
    var revision: Revision?
    try await follow { store in
      try await store.list(request.query)
    } show: { rows in
      revision = rows?.cursor?.revision ?? revision
      show(rows)
    }
    return revision
  }

  /// Calls `show` with each value, and with nil when another file has replaced the database.
  private func follow<Value: Sendable>(
    _ value: (UserStore) async throws -> Listenable<Value>, show: (Value?) -> Void
  ) async throws {
    guard var store = try await common.openWaiting(.readOnly) else { return }
    defer { store.close() }
    common.noteMissingFileEvents(of: store)
    for note in try notes(store) { common.note(note) }
    while true {
      let token = Self.closeWhenReplaced(store)
      defer { token.dispose() }
      for await value in try await value(store).values { show(value) }
      if Signals.shared.status != nil { return }
      await store.close()
      guard let next = try await common.openWaiting(.readOnly, isReplaced: true) else { return }
      store = next
      show(nil)
    }
  }

  /// Closes the store when another file has replaced it, which ends the list's values.
  private static func closeWhenReplaced(_ store: UserStore) -> SubscriptionToken {
    store.listeners.bind(to: .everything) { [weak store] set in
      guard set.discontinuity == .replaced else { return }
      Task { await store?.close() }
    }
  }

  private func notes(_ store: UserStore) throws -> [String] {
    var unknown = UnknownAttributes(request.attributes)
    return try store.read { transaction in
      try request.check(in: &transaction)
      let notes = try unknown.notes(&transaction, isWhole: false)
      let matching = try transaction.ids(matching: Query(where: request.query.where, limit: 1))
      return matching.isEmpty ? notes + (try request.selection.hints(&transaction)) : notes
    }
  }
}
