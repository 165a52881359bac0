import Testing

@testable import UserStore

/// What the page of `Session` says of every engine: SQLite in a file and in memory, or, with USERSTORE_ENGINE, PostgreSQL.
@Suite(.bounded, .serialized) struct SessionContractTests {
  enum Kind: CaseIterable, CustomTestStringConvertible {
    case file, memory, server

    static var all: [Kind] { TestEngine.isPostgres ? [.server] : [.file, .memory] }
    /// Those with sessions that read while another one writes.
    static var shared: [Kind] { all.filter { $0 != .memory } }
    var testDescription: String { "\(self)" }
  }

  /// A store without writes of its own, and its sessions.
  private final class Subject {
    let store: UserStore
    let writer: any Session

    init(_ kind: Kind) throws {
      var configuration = Configuration()
      (configuration.watchesOtherProcesses, configuration.retention) = (false, .unlimited)
      store = try kind == .file ? .temporary(configuration: configuration) : .forTests(configuration: configuration)
      writer = try #require(store.engine.writers).take()
    }

    deinit { store.engine.writers?.give(back: writer) }

    /// Runs `body` in a transaction that writes, and commits it.
    @discardableResult
    func write<Value>(
      origin: String? = nil, readingAfter position: Cursor? = nil, _ body: (any Session) throws -> Value
    ) throws -> (value: Value, end: Cursor) {
      try writer.beginWriting(isWaiting: true)
      let value = try body(writer)
      try writer.endSet(origin: origin)
      return (value, try writer.commit(readingAfter: position).end)
    }

    /// Runs `body` in a transaction that reads.
    func read<Value>(_ body: (any Session) throws -> Value) throws -> Value {
      let session = store.engine.readers === store.engine.writers ? writer : try store.engine.readers.take()
      defer { if session !== writer { store.engine.readers.give(back: session) } else { session.rollBack() } }
      try session.beginReading(after: nil)
      return try body(session)
    }

    func addUser(_ name: String = "NIX") throws -> User.ID {
      try write { try $0.insertUser(nil, name: .text(name), hairColor: .null) }.value
    }
  }

  // MARK: Transactions

  @Test(arguments: Kind.all) func `a transaction is open until it is committed or rolled back`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    #expect(subject.writer.transaction == .none)
    try subject.writer.beginWriting(isWaiting: true)
    #expect(subject.writer.transaction == .open)
    let id = try subject.writer.insertUser(nil, name: .text("a"), hairColor: .null)
    try subject.writer.endSet(origin: nil)
    subject.writer.rollBack()
    #expect(subject.writer.transaction == .none)
    #expect(try subject.read { try $0.user(id) } == nil)
    subject.writer.rollBack()
    let second = try subject.addUser()
    #expect(subject.writer.transaction == .none)
    #expect(try subject.read { try $0.user(second)?.name } == "NIX")
  }

  @Test(arguments: Kind.all) func `after an interrupt, a read ends, until it is rolled back`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    for _ in 0..<2 {
      try subject.read { session throws in
        #expect(try session.user(id)?.name == "NIX")
        session.interrupt()
        let codes = (0..<2).map { _ in code { try session.user(id) } }
        #expect(codes == [.closed, .closed])
      }
      #expect(try subject.read { try $0.user(id)?.name } == "NIX")
    }
    #expect(try subject.addUser() != id)
  }

  @Test(arguments: Kind.shared) func `a read sees one state, and a write its own changes`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    let first = try subject.store.engine.readers.take()
    defer { subject.store.engine.readers.give(back: first) }
    try first.beginReading(after: nil)
    let before = try first.logEnd()
    try subject.write { session throws in
      #expect(try session.put(.name, of: id, .text("Zoë")) == .changed)
      #expect(try session.value(.name, of: id) == .text("Zoë"))
      #expect(try first.value(.name, of: id) == .text("NIX"))
    }
    #expect(try first.value(.name, of: id) == .text("NIX"))
    #expect(try first.logEnd() == before)
    first.rollBack()
    try first.beginReading(after: nil)
    #expect(try first.value(.name, of: id) == .text("Zoë"))
    #expect(try first.logEnd().revision > before.revision)
  }

  @Test(arguments: Kind.all) func `a savepoint takes back values and sets, and what came before stays`(_ kind: Kind)
    throws
  {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    let end = try subject.write { session in
      _ = try session.put("a", of: id, .integer(1))
      try session.endSet(origin: "first")
      let first = try session.writingEnd()
      try session.savepoint()
      _ = try session.put("a", of: id, .integer(2))
      try session.savepoint()
      _ = try session.put("b", of: id, .integer(2))
      try session.endSet(origin: "second")
      try session.releaseSavepoint()
      try session.rollBackToSavepoint()
      #expect(session.transaction == .open)
      #expect(try session.writingEnd() == first)
      #expect(try session.value("a", of: id) == .integer(1))
      #expect(try session.value("b", of: id) == .null)
    }.end
    let rows = try subject.read { try $0.rows(after: 0, through: .max) }
    #expect(rows.filter(\.isEnd).map(\.origin) == [nil, "first"])
    #expect(rows.last?.sequence == end.revision.rawValue)
  }

  @Test(arguments: Kind.all) func `a commit returns the end of the log, and the rows that it has read ahead`(
    _ kind: Kind
  ) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    let start = try subject.read { try $0.logEnd() }
    for position in [nil, start] {
      let before = try subject.read { try $0.logEnd() }
      let end = try subject.write(readingAfter: position) { session in
        #expect((session.writingStart?.end ?? before) == before)
        _ = try session.put("age", of: id, .integer(Int64.random(in: 0...(.max))))
      }.end
      if let position {
        let ahead = try subject.writer.rows(after: position.revision.rawValue, through: end.revision.rawValue)
        subject.writer.rollBack()
        let rows = try subject.read { try $0.rows(after: position.revision.rawValue, through: .max) }
        #expect(ahead.map(\.change) == rows.map(\.change) && ahead.map(\.nonce) == rows.map(\.nonce))
        #expect(rows.count == 4)
      }
      #expect(try subject.read { try $0.logEnd() } == end)
      subject.writer.rollBack()
    }
    let unchanged = try subject.write { _ in }.end
    #expect(try subject.read { try $0.logEnd() } == unchanged)
  }

  @Test(arguments: Kind.all) func `the start of a write says whether others may have committed`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    for _ in 0..<2 {
      try subject.write { session in
        _ = try session.put("age", of: id, .integer(.random(in: 0...(.max))))
        #expect(try session.writingEnd() == session.writingStart?.end)
        #expect(session.writingStart?.isRead == false)
      }
    }
    subject.writer.rollBack()
    try subject.writer.beginWriting(isWaiting: true)
    _ = try subject.writer.put("age", of: id, .null)
    subject.writer.rollBack()
    // The caller may not have handled what the transaction has found.
    try subject.write { session in
      _ = try session.put("age", of: id, .null)
      #expect(session.writingStart?.isRead == true)
    }
  }

  @Test(arguments: Kind.all) func `the final position of a row is that which it has after the commit`(_ kind: Kind)
    throws
  {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    let (position, end) = try subject.write { session in
      _ = try session.put("age", of: id, .integer(1))
      return try session.finalPosition(of: session.logEnd())
    }
    #expect(position.revision.rawValue + 1 == end.revision.rawValue)
  }

  @Test(arguments: Kind.shared) func `the commit counter changes when another session commits`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    let session = try subject.store.engine.readers.take()
    defer { subject.store.engine.readers.give(back: session) }
    let end = try subject.read { try $0.logEnd() }
    let counter = try session.commitCounter(beforeReadingAfter: end)
    #expect(try session.commitCounter(beforeReadingAfter: end) == counter)
    try subject.write { _ = try $0.put("age", of: id, .integer(1)) }
    #expect(try session.commitCounter(beforeReadingAfter: end) != counter)
    session.rollBack()
  }

  // MARK: Records

  @Test(arguments: Kind.all) func `setting a value reports what it did`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    try subject.write { session in
      let values: [StoredValue] = [.integer(1), .real(1), .text("1"), .blob([0x31]), .text(""), .integer(.min), .null]
      for value in values {
        #expect(try session.put("x", of: id, value) == .changed, "\(value)")
        #expect(try session.put("x", of: id, value) == .unchanged, "\(value)")
        #expect(try session.value("x", of: id) == value)
      }
      for (attribute, value) in [
        (AttributeName.name, StoredValue.text("Zoë")), (.hairColor, .text("#ff0000")), (.hairColor, .null),
      ] {
        #expect(try session.put(attribute, of: id, value) == .changed)
        #expect(try session.put(attribute, of: id, value) == .unchanged)
        #expect(try session.value(attribute, of: id) == value)
      }
      for attribute in ["x", AttributeName.name, .hairColor] {
        #expect(try session.put(attribute, of: User.ID(99), .text("a")) == .noUser)
        #expect(try session.value(attribute, of: User.ID(99)) == .null)
      }
      try session.insert("y", of: id, .real(2))
      #expect(try session.user(id)?.storedValues == [.name: .text("Zoë"), "y": .real(2)])
      #expect(try session.attributeNames() == ["y"])
    }
  }

  @Test(arguments: Kind.all) func `an id is not given twice`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let first = try subject.addUser()
    #expect(try subject.write { try $0.removeUser(first) }.value)
    #expect(try subject.write { try $0.removeUser(first) }.value == false)
    let chosen = User.ID(first.rawValue + 10)
    #expect(try subject.write { try $0.insertUser(chosen, name: .text("b"), hairColor: .null) }.value == chosen)
    #expect(try subject.write { try $0.removeUser(chosen) }.value)
    #expect(try subject.addUser() > chosen)
  }

  @Test(arguments: Kind.all) func `requests return users in their order until they are stopped`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let ids = try (0..<5).map { number in
      try subject.write { session in
        let id = try session.insertUser(nil, name: .text("\(number % 2)"), hairColor: .null)
        if number > 0 { try session.insert("age", of: id, .integer(Int64(number))) }
        return id
      }.value
    }
    try subject.read { session in
      func users(_ request: RowRequest, _ count: Int = .max) throws -> [User.ID] {
        var (found, left) = ([User.ID](), count)
        try session.eachUser(request) { user in
          found.append(user.id)
          left -= 1
          return left > 0
        }
        return found
      }
      #expect(try users(.all) == ids)
      #expect(try users(.all, 2) == Array(ids.prefix(2)))
      let order = [SortKey(.name, descending: true), SortKey("age")]
      let sorted = RowRequest(condition: .always, order: order, columns: ["age", .id])
      #expect(try users(sorted) == [1, 3, 0, 2, 4].map { ids[$0] })
      var rows: [[StoredValue]] = []
      try session.eachRow(sorted) { _, values in
        rows.append(values)
        return rows.count < 3
      }
      #expect(rows == [1, 3, 0].map { [$0 == 0 ? .null : .integer(Int64($0)), .integer(ids[$0].rawValue)] })
      #expect(try users(RowRequest(condition: .exists("age"), order: [], limit: 2, columns: [])) == Array(ids[1...2]))
      #expect(try session.userCount(where: .always) == 5)
      #expect(try session.userCount(where: .exists("age")) == 4)
    }
  }

  @Test(arguments: Kind.all) func `rows have the values of attributes of any name`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let names: [AttributeName] = ["\"", "\"\u{301}", "\\", "\\\u{301}", "'\u{301}", "$1", "é"]
    try subject.write { session in
      let id = try session.insertUser(nil, name: .text("NIX"), hairColor: .null)
      for (index, name) in names.enumerated() { try session.insert(name, of: id, .integer(Int64(index))) }
    }
    try subject.read { session in
      for name in names {
        var rows: [[StoredValue]] = []
        try session.eachRow(RowRequest(condition: .exists(name), order: [SortKey(name)], limit: 2, columns: [name])) {
          _, values in
          rows.append(values)
          return true
        }
        #expect(rows == [[.integer(Int64(names.firstIndex(of: name)!))]], "\(name)")
      }
    }
  }

  @Test(arguments: Kind.all) func `an index is added once and removed once`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let added = try (0..<2).map { _ in try subject.write { try $0.addIndex(AttributeIndex(on: "age")) { true } }.value }
    #expect(added == [true, false])
    #expect(try subject.read { try $0.indexes() } == [AttributeIndex(on: "age")])
    #expect(throws: StoreError.self) { try subject.write { try $0.addIndex(AttributeIndex(on: "city")) { false } } }
    subject.writer.rollBack()
    let removed = try (0..<2).map { _ in try subject.write { try $0.removeIndex(AttributeIndex(on: "age")) }.value }
    #expect(removed == [true, false])
    #expect(try subject.read { try $0.indexes() } == [])
  }

  // MARK: The log

  @Test(arguments: Kind.all) func `the log has each change and the end of each set, without gaps`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.write(origin: "é") { try $0.insertUser(nil, name: .text("a"), hairColor: .text("#ff0000")) }
      .value
    let end = try subject.write(origin: "") { session in
      _ = try session.put("x", of: id, .real(1))
      _ = try session.put("x", of: id, .null)
      _ = try session.removeUser(id)
    }.end
    try subject.read { session in
      let rows = try session.rows(after: 0, through: .max)
      #expect(rows.map(\.sequence) == Array(1...Int64(rows.count)) && rows.last?.sequence == end.revision.rawValue)
      #expect(rows.map(\.isEnd) == [false, false, true, false, false, false, false, true])
      #expect(rows.filter(\.isEnd).map(\.origin) == ["é", ""] && rows.filter(\.isEnd).map(\.firstOfSet) == [1, 4])
      #expect(rows.filter { !$0.isEnd }.map(\.change.kind) == [.added, .added, .updated, .updated, .removed, .removed])
      #expect(rows[3].change.new == .real(1) && rows[4].change.old == .real(1))
      let newest = try session.rows(after: 2, through: 7, newestFirst: true)
      #expect(newest.map(\.change) == rows[2...6].reversed().map(\.change))
      #expect(try session.nextEnd(after: 3, through: .max)?.sequence == 8)
      #expect(try session.nextEnd(after: 3, through: 7) == nil)
      #expect(try session.changeCount(after: 3) == 4)
      #expect(try session.changeCount(after: 8) == 0)
      let state = try session.logState(at: end.revision.rawValue, of: nil)
      #expect(
        state.epoch == end.epoch && state.nonce == end.nonce && state.last == end.revision.rawValue
          && state.horizon == 0)
      #expect(try session.logState(at: 9, of: nil).nonce == nil)
      #expect(try session.horizon().revision.rawValue == 0)
    }
  }

  @Test(arguments: Kind.all) func `a set without changes is none`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    let end = try subject.read { try $0.logEnd() }
    let again = try subject.write(origin: "x") { session in
      #expect(try session.put(.name, of: id, .text("NIX")) == .unchanged)
      try session.endSet(origin: "x")
      #expect(try session.writingEnd() == end)
    }.end
    #expect(again == end)
  }

  // MARK: Retention

  @Test(arguments: Kind.all) func `old rows are measured and deleted, and the log starts later`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    try subject.write { _ = try $0.put("x", of: id, .text("abc")) }
    let middle = try subject.read { session in
      let rows = try session.rows(after: 0, through: .max)
      var ends: [Int64] = []
      var seen: [Int64] = []
      try session.scan(after: 0, through: .max, limit: 100) { sequence, end in
        seen.append(sequence)
        if let end { ends.append(end.sequence) }
        return true
      }
      #expect(seen == rows.map(\.sequence) && ends == [3, 5])
      let size = try session.size(after: 3, through: 4, limit: 10)
      #expect(size.last == 4 && size.bytes == Int64(rows[3].byteCount))
      #expect(try session.size(after: 0, through: .max, limit: 2).last == 2)
      #expect(try session.usedBytes() > 0)
      return try Cursor(epoch: session.logEnd().epoch, revision: 3, nonce: rows[2].nonce)
    }
    try subject.write { session in
      var extent = try session.extent(assuming: nil)
      #expect(extent.horizon.revision.rawValue == 0)
      extent.compact(through: middle)
      try session.save(extent)
      #expect(try session.deleteRows(through: 3) == 3)
    }
    try subject.read { session throws in
      #expect(try session.horizon() == middle)
      #expect(try session.extent(assuming: nil).horizon == middle)
      #expect(try session.rows(after: 3, through: .max).map(\.sequence) == [4, 5])
    }
  }

  @Test(arguments: Kind.all) func `a blanked change keeps its place`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    try subject.write { _ = try $0.removeUser(id) }
    let rows = try subject.read { try $0.changes(of: id, after: 0, through: .max) }
    #expect(rows.map(\.sequence) == [1, 2, 4, 5])
    try subject.write { try $0.blank(rows.map(\.sequence), of: id) }
    try subject.read { session in
      #expect(try session.changes(of: id, after: 0, through: .max).map(\.isBlank) == [true, true, true, true])
      let left = try session.rows(after: 0, through: .max)
      #expect(left.map(\.sequence) == Array(1...6))
      #expect(left.filter { !$0.isEnd }.allSatisfy { $0.change.old.isNull && $0.change.new.isNull })
    }
  }

  // MARK: Replicas

  /// Decisions about sets with these numbers; their nonces are ten times as large.
  private static func accepted(
    _ numbers: some Sequence<Int64>
  ) -> [(number: Int64, nonce: Int64, decision: Decision)] { numbers.map { ($0, $0 * 10, .accepted) } }

  @Test(arguments: Kind.all) func `decisions are found by the nonce, in the order of the question`(_ kind: Kind) throws
  {
    let subject = try Subject(kind)
    let conflict = Decision("conflict", detail: "the “größe” is '36', not \"37\" or \\{1,NULL}\n")
    let all: [(number: Int64, nonce: Int64, decision: Decision)] = [
      (1, .min, .accepted), (2, .max, conflict), (.max, 0, Decision("invalid", detail: "")),
    ]
    try subject.write { session in
      let replicated = try #require(session.replicated)
      try replicated.serveReplicas()
      #expect(try replicated.decides())
      try replicated.store([], of: 5)
      try replicated.store(all, of: .min)
      #expect(try replicated.decisions(about: [(2, .max)], of: .min) == [conflict])
    }
    try subject.read { session in
      let replicated = try #require(session.replicated)
      let (server, known) = (try session.server(), Optional(conflict))
      #expect(try replicated.decides() && server?.purged == [])
      let asked: [(number: Int64, nonce: Int64)] = [(.max, 0), (2, .max), (3, 7), (1, .min), (3, 7)]
      #expect(try replicated.decisions(about: asked, of: .min) == [all[2].decision, known, nil, .accepted, nil])
      // Whatever number and producer the set has now: the replica's file may have been copied.
      #expect(try replicated.decisions(about: [(9, .max), (1, 7)], of: 5) == [known, nil])
      #expect(try replicated.decisions(about: [], of: 5) == [])
      #expect(try replicated.takesWrites() == false)
      try replicated.requireDecided(User.ID(1))
    }
  }

  @Test(arguments: Kind.all) func `decisions belong to the transaction`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    try subject.write { try $0.replicated?.serveReplicas() }
    try subject.write { session in
      let replicated = try #require(session.replicated)
      try replicated.store(Self.accepted([1]), of: 5)
      try session.savepoint()
      try replicated.store(Self.accepted([2]), of: 5)
      try session.rollBackToSavepoint()
    }
    try subject.writer.beginWriting(isWaiting: true)
    try subject.writer.replicated?.store(Self.accepted([3]), of: 5)
    subject.writer.rollBack()
    let asked = Self.accepted(1...3).map { ($0.number, $0.nonce) }
    #expect(try subject.read { try $0.replicated?.decisions(about: asked, of: 5) } == [.accepted, nil, nil])
  }

  @Test(arguments: Kind.all) func `a number of another set is forked, and one that was forgotten is expired`(
    _ kind: Kind
  ) throws {
    let subject = try Subject(kind)
    try subject.write { session in
      let replicated = try #require(session.replicated)
      try replicated.serveReplicas()
      try replicated.store(Self.accepted(1...4), of: 5)
      try replicated.store([(2, 21, .accepted)], of: 6)
      #expect(try replicated.decisions(about: [(2, 1), (5, 1), (2, 20)], of: 5) == [.forked, nil, .accepted])
      try replicated.forgetDecisions(of: 5, through: 2, before: .max)
      let asked: [(number: Int64, nonce: Int64)] = [(0, 1), (1, 10), (2, 20), (2, 1), (3, 30), (3, 1), (5, 1)]
      #expect(
        try replicated.decisions(about: asked, of: 5)
          == [.expired, .expired, .expired, .expired, .accepted, .forked, nil])
      // The other replica's decisions stay.
      #expect(try replicated.decisions(about: [(2, 21), (2, 1), (1, 1)], of: 6) == [.accepted, .forked, nil])
      // What is known is known, and a number that was forgotten is expired even if another set has it.
      try replicated.store([(1, 11, .accepted)], of: 5)
      #expect(try replicated.decisions(about: [(1, 11), (1, 1)], of: 5) == [.accepted, .expired])
      // The largest number stays when a smaller one is forgotten.
      try replicated.forgetDecisions(of: 5, through: 1, before: .max)
      #expect(try replicated.decisions(about: [(1, 11), (2, 1)], of: 5) == [.expired, .expired])
    }
  }

  @Test(arguments: Kind.all) func `decisions are forgotten a thousand at a time, if they are old`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    /// Returns when the clocks of the engine and of the test are past all that was written, in whole milliseconds.
    func nextTime() -> Int64 {
      let now = WallClock.milliseconds
      while WallClock.milliseconds < now + 2 {}
      return WallClock.milliseconds
    }
    try subject.write { session in
      let replicated = try #require(session.replicated)
      try replicated.serveReplicas()
      func known(_ numbers: Int64...) throws -> [Decision?] {
        try replicated.decisions(about: numbers.map { ($0, $0 * 10) }, of: 5)
      }
      try replicated.store(Self.accepted(1...1_001), of: 5)
      let time = nextTime()
      try replicated.store(Self.accepted(1_002...1_003), of: 5)
      try replicated.forgetDecisions(of: 5, through: .max, before: 0)
      #expect(try known(1, 1_003) == [.accepted, .accepted])
      try replicated.forgetDecisions(of: 5, through: .max, before: time)
      #expect(try known(1, 1_000, 1_001) == [.expired, .expired, .accepted])
      try replicated.forgetDecisions(of: 5, through: .max, before: time)
      #expect(try known(1_001, 1_002, 1_003) == [.expired, .accepted, .accepted])
      try replicated.forgetDecisions(of: 5, through: 1_002, before: .max)
      #expect(try known(1_002, 1_003) == [.expired, .accepted])
    }
  }

  @Test(arguments: Kind.all) func `the note of a set that a replica has sent is in the log, and is no change`(
    _ kind: Kind
  ) throws {
    let subject = try Subject(kind)
    let id = try subject.addUser()
    try subject.write { try $0.replicated?.serveReplicas() }
    let start = try subject.read { try $0.logEnd() }
    try subject.write(origin: "app") { session in
      for nonce in [Int64.min, 0] {
        _ = try session.put("age", of: id, .integer(nonce))
        try session.append(.pushed(nonce))
        if nonce < 0 { try session.endSet(origin: nil) }
      }
    }
    let rows = try subject.read { try $0.rows(after: start.revision.rawValue, through: .max) }
    #expect(rows.map(\.isNote) == [false, true, false, false, true, false])
    #expect(rows.map(\.pushed) == [nil, .min, nil, nil, 0, nil])
    #expect(rows.map(\.isEnd) == [false, false, true, false, false, true])
    #expect(rows.entries.changes.map(\.new) == [.integer(.min), .integer(0)])
    #expect(rows.entries.hasNotes && !rows.entries.isPulled)
  }

  // MARK: Consumers

  @Test(arguments: Kind.all) func `a consumer's position moves only for its holder`(_ kind: Kind) throws {
    let subject = try Subject(kind)
    let start = try subject.read { try $0.logEnd() }
    try subject.write { session throws in
      #expect(try session.claimConsumer("b", fencingToken: 1, at: nil) == false)
      #expect(try session.consumer("b") == nil)
      #expect(try session.claimConsumer("b", fencingToken: 1, at: start) == false)
      #expect(try session.claimConsumer("B", fencingToken: 1, at: start) == false)
      #expect(try session.claimConsumer("b", fencingToken: 2, at: nil))
    }
    let later = Cursor(epoch: start.epoch, revision: 7, nonce: 5)
    try subject.write { try $0.moveConsumer("b", fencingToken: 1, to: later) }
    #expect(try subject.read { try $0.consumer("b")?.cursor } == start)
    try subject.write { try $0.moveConsumer("b", fencingToken: 2, to: later) }
    try subject.read { session in
      let consumer = try session.consumer("b")
      #expect(consumer?.cursor == later && consumer?.fencingToken == 2)
      #expect(try session.consumers().map(\.name) == ["B", "b"])
    }
    #expect(try subject.write { try $0.removeConsumer("b") }.value)
    #expect(try subject.write { try $0.removeConsumer("b") }.value == false)
  }
}
