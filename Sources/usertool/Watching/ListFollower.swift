import UserStore

/// Where the versions of a list are shown.
protocol ListDisplay {
  /// Shows a version.
  mutating func show(_ rows: Rows)

  /// Prepares for the rows of another file.
  mutating func reset(because reason: StoreError.Code)
}

/// Follows a list and shows it, until it is canceled: as a table on the terminal, or as JSON.
struct ListFollower: Sendable {
  let common: CommonOptions
  let query: Query
  /// The attributes that the command line names.
  let attributes: [AttributeName]

  func run() async throws {
    let isTable = common.liveFormat == .table
    let revision = isTable ? try await showTable() : try await printStream()
    guard let status = Signals.shared.status, let revision else { return }
    // A terminal shows ^C, but not while a table is drawn on it; the message starts on the next line.
    let lineEnd = !isTable && status == .interrupted && System.isTerminal(2) ? "\n" : ""
    common.note(lineEnd + "stopped at revision \(revision)")
  }

  private func printStream() async throws -> Revision? {
    var stream = ListStream(common.liveFormat, to: Output())
    let revision = try await follow(on: &stream) { revision in
      common.note("watching the list after revision \(revision) (Ctrl-C to stop)")
    }
    stream.end()
    return revision
  }

  private func showTable() async throws -> Revision? {
    var screen = ListScreen(common.style)
    let drawn = screen
    async let drawing: Void = drawn.run()
    let result: Result<Revision?, any Error>
    do { result = .success(try await follow(on: &screen) { _ in }) } catch { result = .failure(error) }
    // Also after an error, which is reported below the table.
    screen.finish()
    await drawing
    return try result.get()
  }

  /// Shows the list of the file, and of each file that takes its place.
  ///
  /// - Parameters:
  ///   - display: Where to show it.
  ///   - ready: Called once, with the revision of the first rows, before they are shown.
  /// - Returns: the revision of the last rows; nil if there are none.
  /// - Throws: what opening the file and reading the list throws.
  private func follow(on display: inout some ListDisplay, ready: (Revision) -> Void) async throws -> Revision? {
    guard var store = try await common.openWaiting(.readOnly) else { return nil }
    defer { store.close() }
    common.noteMissingFileEvents(of: store)
    for note in try notes(store) { common.note(note) }
    var revision: Revision?
    while true {
      let token = Self.closeWhenReplaced(store)
      defer { token.dispose() }
      let list = try await store.list(query)
      for await rows in list.values {
        if revision == nil, let first = rows.cursor?.revision { ready(first) }
        revision = rows.cursor?.revision ?? revision
        display.show(rows)
        if Signals.shared.status != nil { return revision }
      }
      if Signals.shared.status != nil { return revision }
      await store.close()
      guard let next = try await common.openWaiting(.readOnly, isReplaced: true) else { return revision }
      store = next
      display.reset(because: .replaced)
    }
  }

  /// Closes the store when another file has taken the place of the open one, which ends the list's values.
  private static func closeWhenReplaced(_ store: UserStore) -> SubscriptionToken {
    store.listeners.bind(to: .everything) { [weak store] set in
      guard set.discontinuity == .replaced else { return }
      Task { await store?.close() }
    }
  }

  private func notes(_ store: UserStore) throws -> [String] {
    var unknown = UnknownAttributes(attributes)
    return try store.read { try unknown.notes(&$0, isWhole: false) }
  }
}
