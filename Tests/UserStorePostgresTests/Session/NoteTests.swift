import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Notes in the log: events, and purges.
  @Suite(.timeLimit(.minutes(5)))
  final class NoteTests {
    private let database: String
    private let store: UserStore
    private let writer: any Session
    private let other: PostgresConnection

    init() throws {
      database = try Server.newDatabase()
      var configuration = PostgresConfiguration(Server.address(database))
      (configuration.store.watchesOtherProcesses, configuration.store.retention) = (false, .unlimited)
      store = try UserStore(postgres: configuration)
      writer = try #require(store.engine.writers).take()
      other = try PostgresConnection(PostgresSettings(Server.address(database)))
    }

    deinit {
      store.engine.writers?.give(back: writer)
      store.close()
    }

    /// Runs `body` in a transaction that writes one set, and commits it.
    @discardableResult
    private func write<Value>(_ body: (any Session) throws -> Value) throws -> Value {
      try writer.beginWriting(isWaiting: true)
      let value = try body(writer)
      try writer.endSet(origin: nil)
      _ = try writer.commit(readingAfter: nil)
      return value
    }

    private func read<Value>(_ body: (any Session) throws -> Value) throws -> Value {
      try writer.beginReading(after: nil)
      defer { writer.rollBack() }
      return try body(writer)
    }

    private func addUser() throws -> User.ID {
      try write { try $0.insertUser(nil, name: .text("Ann"), hairColor: .null) }
    }

    private func rows(after start: Int64 = 0) throws -> [LogRow] {
      try read { try $0.rows(after: start, through: .max) }
    }

    private var findings: [Finding] {
      get throws { try UserStore.check(postgres: PostgresConfiguration(Server.address(database))) }
    }

    @Test func `events are rows of the log, in order with the changes`() throws {
      let ann = try addUser()
      let payloads: [StoredValue] = [
        .null, .text(#"{"by":2}"#), .text(""), .text("a\u{0}b"), .integer(.min), .real(0.5), .blob([0, 255]),
        .invalidText([0xFF]),
      ]
      try write { session in
        try session.append(.event(name: "first", payload: .null, about: nil))
        _ = try session.put("age", of: ann, .integer(1))
        for payload in payloads { try session.append(.event(name: "é", payload: payload, about: ann)) }
        // In the open transaction as after the commit.
        let start = try #require(session.writingStart).end.revision.rawValue
        let own = try session.rows(after: start, through: .max)
        #expect(own.map(\.isNote) == [true, false] + payloads.map { _ in true })
        #expect(own.last?.change.new == payloads.last)
      }
      let found = try rows(after: 3)
      #expect(found.map(\.sequence) == Array(4...Int64(6 + payloads.count)))
      #expect(found.map(\.isEnd) == [Bool](repeating: false, count: 2 + payloads.count) + [true])
      #expect(found[0].isNote && found[0].change.old == .text("first") && found[0].change.new == .null)
      #expect(!found[1].isNote && found[1].change.attribute == "age")
      let about = found[2..<(2 + payloads.count)]
      #expect(about.allSatisfy { $0.isNote && $0.change.user == ann && $0.change.attribute == "" })
      #expect(about.map(\.change.new) == payloads && about.allSatisfy { $0.change.old == .text("é") })
      let newest = try read { try $0.rows(after: 3, through: .max, newestFirst: true) }
      #expect(newest.map(\.change) == found.reversed().map(\.change))
      // Sizes and counts have them as every row.
      #expect(try read { try $0.changeCount(after: 3) } == 2 + payloads.count)
      let size = try read { try $0.size(after: 3, through: .max, limit: 100) }
      #expect(size.bytes == Int64(found.reduce(0) { $0 + $1.byteCount }))
      #expect(try findings == [])
    }

    @Test func `an event about a user that does not exist is refused, and the write goes on`() throws {
      let ann = try addUser()
      try write { session in
        try session.append(.event(name: "before", payload: .null, about: ann))
        let error = #expect(throws: StoreError.self) {
          try session.append(.event(name: "x", payload: .text("y"), about: User.ID(7)))
        }
        #expect(error?.code == .userNotFound && error?.message == "there is no user 7")
        #expect(session.transaction == .open)
        _ = try session.removeUser(ann)
        #expect(throws: StoreError.self) { try session.append(.event(name: "x", payload: .null, about: ann)) }
        try session.append(.event(name: "after", payload: .null, about: nil))
      }
      #expect(try rows(after: 3).filter(\.isNote).map(\.change.old) == [.text("before"), .text("after")])
      // Nothing but a refused event is no set.
      let end = try read { try $0.logEnd() }
      try write { session in
        #expect(throws: StoreError.self) { try session.append(.event(name: "x", payload: .null, about: ann)) }
      }
      #expect(try read { try $0.logEnd() } == end)
    }

    @Test func `an event with a name that PostgreSQL cannot store changes nothing, and the write goes on`() throws {
      try write { session in
        let error = #expect(throws: StoreError.self) {
          try session.append(.event(name: "a\u{0}", payload: .null, about: nil))
        }
        #expect(error?.code == .badValue && session.transaction == .open)
        try session.append(.event(name: "after", payload: .null, about: nil))
      }
      #expect(try rows().map(\.isNote) == [true, false])
    }

    @Test func `an event is taken back with its savepoint`() throws {
      try write { session in
        try session.append(.event(name: "kept", payload: .null, about: nil))
        try session.savepoint()
        try session.append(.event(name: "undone", payload: .null, about: nil))
        try session.rollBackToSavepoint()
      }
      #expect(try rows().map(\.change.old) == [.text("kept"), .integer(1)])
    }

    @Test func `a lone event takes as many round trips as any lone write`() throws {
      let session = try #require(writer as? PostgresSession)
      func roundTrips(_ body: (any Session) throws -> Void) throws -> Int {
        let before = session.connection.roundTrips
        try write(body)
        return session.connection.roundTrips - before
      }
      let ann = try addUser()
      let put = try roundTrips { _ = try $0.put("age", of: ann, .integer(1)) }
      #expect(try roundTrips { try $0.append(.event(name: "x", payload: .null, about: nil)) } == put)
      #expect(try roundTrips { try $0.append(.event(name: "x", payload: .null, about: ann)) } == put)
    }

    @Test func `events of other programs are delivered with the changes of their transaction`() throws {
      let ann = try addUser()
      try other.execute(
        """
        BEGIN; SELECT userstore.post('invited', '{"by":2}', about => 1);
        UPDATE userstore.users SET name = 'Zoë'; SELECT userstore.post('closed'); COMMIT
        """, to: "write as another program")
      let found = try rows(after: 3)
      #expect(found.map(\.isNote) == [true, false, true, false])
      #expect(found.map(\.isForeign) == [false, false, false, true] && found.last?.firstOfSet == 4)
      #expect(found[0].change.user == ann && found[0].change.new == .text(#"{"by":2}"#))
      let end = try read { try $0.nextEnd(after: 3, through: .max) }
      #expect(end?.isForeign == true && end?.sequence == 7)
    }

    @Test func `a purge removes the payloads of events about the user, not their names, and is noted`() throws {
      let ann = try addUser()
      let bo = try addUser()
      try write { session in
        try session.append(.event(name: "secret", payload: .text("of Ann"), about: ann))
        try session.append(.event(name: "empty", payload: .null, about: ann))
        try session.append(.event(name: "other", payload: .text("of Bo"), about: bo))
        try session.append(.event(name: "all", payload: .text("of nobody"), about: nil))
      }
      let error = #expect(throws: StoreError.self) { try write { try $0.append(.purged(ann)) } }
      #expect(error?.code == .conflict)
      writer.rollBack()
      try write { _ = try $0.removeUser(ann) }
      let about = try read { try $0.changes(of: ann, after: 0, through: .max) }
      // The sizes of what a purge removes: not of the row, and not of an event's name.
      #expect(about.map(\.bytes) == [3, 0, 6, 0, 3, 0])
      #expect(about.map(\.isBlank) == [false, false, false, true, false, false])
      let sizes = try rows().map(\.byteCount)
      try write { session in
        try session.blank(about.map(\.sequence), of: ann)
        try session.append(.purged(ann))
      }
      let found = try rows()
      for (row, before) in zip(found, sizes) {
        let removed = about.first { $0.sequence == row.sequence }?.bytes ?? 0
        #expect(row.byteCount == before - Int(removed), "\(row.sequence)")
      }
      let notes = found.filter(\.isNote)
      #expect(
        notes.map(\.change.old) == [.text("secret"), .text("empty"), .text("other"), .text("all"), .null])
      #expect(notes.map(\.change.new) == [.null, .null, .text("of Bo"), .text("of nobody"), .null])
      #expect(notes.last?.change.user == ann && notes.last?.change.kind == .unknown)
      // The note itself has nothing to remove.
      let again = try read { try $0.changes(of: ann, after: 0, through: .max) }
      #expect(again.map(\.sequence) == about.map(\.sequence) && again.allSatisfy { $0.isBlank && $0.bytes == 0 })
      #expect(try findings == [])
    }

    @Test func `notes are compacted with their sets`() throws {
      try write { try $0.append(.event(name: "old", payload: .text("x"), about: nil)) }
      try write { try $0.append(.event(name: "new", payload: .null, about: nil)) }
      try write { session in
        var extent = try session.extent(assuming: nil)
        extent.compact(through: Cursor(epoch: extent.horizon.epoch, revision: 2, nonce: try rowsNonce(2, session)))
        try session.save(extent)
        #expect(try session.deleteRows(through: 2) == 2)
      }
      #expect(try rows().map(\.change.old) == [.text("new"), .integer(3)])
      #expect(try findings == [])
    }

    private func rowsNonce(_ revision: Int64, _ session: any Session) throws -> Int64 {
      try #require(session.rows(after: revision - 1, through: revision).first).nonce
    }
  }
}
