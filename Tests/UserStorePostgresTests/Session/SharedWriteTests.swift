import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Writes that share a transaction on a server, while other programs write.
  @Suite(.timeLimit(.minutes(5)))
  struct SharedWriteTests {
    typealias Body = @Sendable (inout WriteTransaction) throws -> Void
    struct Refusal: Error {}

    let store: UserStore
    let user: User.ID
    let other: User.ID
    /// Another program.
    let program: PostgresConnection

    init() throws {
      var configuration = PostgresConfiguration(Server.address(try Server.newDatabase()))
      configuration.store.watchesOtherProcesses = false
      configuration.store.busyTimeout = .seconds(3)
      store = try UserStore(postgres: configuration)
      (user, other) = try store.write { (try $0.add(name: "Ann"), try $0.add(name: "Ben")) }
      program = try PostgresConnection(configuration.settings)
    }

    /// Runs writes in one transaction, in order, and returns their codes; nil for success.
    private func share(_ bodies: [Body]) throws -> [StoreError.Code?] {
      let (isInside, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let first: Body = { transaction in
        isInside.signal()
        mayEnd.wait()
        try bodies[0](&transaction)
      }
      var work = [start(0, first)]
      isInside.wait()
      for (index, body) in bodies.enumerated().dropFirst() {
        work.append(start(index, body))
        while store.writer?.turns.line.withLock({ $0.count }) != index { sched_yield() }
      }
      mayEnd.signal()
      return try work.map { try $0.join() }
    }

    /// Starts a write whose origin is its number.
    private func start(_ index: Int, _ body: @escaping Body) -> Work<StoreError.Code?> {
      Work { [store] () throws -> StoreError.Code? in
        do { try store.write(origin: "\(index)", body) } catch let error as StoreError { return error.code } catch {}
        return nil
      }
    }

    private func name(_ index: Int) -> AttributeName { AttributeName("a\(index)") }

    private func set(_ index: Int) -> Body {
      { [user, name = name(index)] transaction in try transaction.set(name, of: user, to: .integer(1)) }
    }

    /// Another program commits, in the middle of the shared transaction.
    private func interfere() throws {
      try program.execute(
        "UPDATE userstore.users SET name = name || 'x' WHERE id = \(other.rawValue)", to: "write as another program")
    }

    @Test func `a write that ignores an error of the server fails alone`() throws {
      let fails = PostgresStatement(once: "fail", "SELECT 1 / 0")
      let codes = try share([
        set(0),
        { transaction in
          try set(1)(&transaction)
          _ = try? (transaction.session as? PostgresSession)?.run(fails)
        },
        set(2),
      ])
      #expect(codes == [nil, .transactionEnded, nil])
      let values = try store.read { transaction in try (0...2).map { try transaction.storedValue(name($0), of: user) } }
      #expect(values == [.integer(1), .null, .integer(1)])
    }

    @Test func `a revision is that of the set although an earlier write asked for its own and failed`() throws {
      let revisions = Inbox<Revision>()
      let codes = try share([
        set(0),
        { transaction in
          try set(1)(&transaction)
          _ = try transaction.revision
          throw Refusal()
        },
        { transaction in
          try interfere()
          try set(2)(&transaction)
          revisions.append(try transaction.revision)
        },
      ])
      #expect(codes == [nil, nil, nil])
      #expect(try store.page(after: nil).filter { $0.origin == "2" }.map(\.revision) == revisions.all)
    }

    @Test func `a consumer that starts in a shared transaction starts at a place in the log`() throws {
      let codes = try share([
        { transaction in
          try set(0)(&transaction)
          try interfere()
        },
        { transaction in _ = try ConsumerClaim("new", from: .now, in: &transaction) },
        set(2),
      ])
      #expect(codes == [nil, nil, nil])
      let position = try #require(try store.read { try $0.consumers() }.first).cursor
      try store.verify(position)
      #expect(try store.page(after: position).map(\.origin) == ["2"])
    }

    /// Ways to read the count of all users in a write.
    private static let reads: [@Sendable (inout WriteTransaction, AttributeName) throws -> [User]] = [
      { transaction, _ in try transaction.users() },
      { transaction, _ in try transaction.users(matching: Query()) },
      { transaction, name in try transaction.users(matching: Query(showing: [name])) },
      { transaction, name in try transaction.users(matching: Query(sortedBy: [SortKey(name)], showing: [])) },
      { transaction, name in
        try transaction.ids(matching: Query()).compactMap { try transaction.user($0) }
      },
    ]

    @Test(arguments: 0..<5) func `what a write has read, another program cannot change`(_ way: Int) throws {
      let name = AttributeName("count")
      try store.write { transaction in for id in [user, other] { try transaction.set(name, of: id, to: .integer(0)) } }
      let increment = Work { [program, user, other] in
        for number in 0..<200 {
          let id = number.isMultiple(of: 2) ? user : other
          try program.execute(
            "UPDATE userstore.attributes SET integer = integer + 1 WHERE name = 'count' AND user_id = \(id.rawValue)",
            to: "count")
        }
      }
      for _ in 0..<100 {
        try store.write { transaction in
          for user in try Self.reads[way](&transaction, name) {
            guard case .integer(let count)? = user[stored: name] else { continue }
            try transaction.set(name, of: user.id, to: .integer(count + 1))
          }
        }
      }
      try increment.join()
      let values = try store.read { transaction in
        try [user, other].map { try transaction.storedValue(name, of: $0) }
      }
      #expect(values == [.integer(200), .integer(200)])
    }

    @Test func `what is not in the log has no cursor, and a row inside a set has one`() throws {
      try store.write { transaction in for index in 0...2 { try set(index)(&transaction) } }
      let end = try store.read { try $0.cursor }
      func cursor(_ revision: Int64) throws -> Cursor? {
        try store.read { try $0.cursor(at: Revision(rawValue: revision)) }
      }
      #expect(try cursor(end.revision.rawValue) == end)
      let inside = try #require(try cursor(end.revision.rawValue - 2))
      try store.verify(inside)
      #expect(try store.page(after: inside).flatMap { try $0.changes }.count == 1)
      for revision in [1, 100] {
        #expect(try cursor(end.revision.rawValue + Int64(revision)) == nil)
        let beyond = Cursor(epoch: end.epoch, revision: end.revision.rawValue + Int64(revision), nonce: 0)
        #expect { try store.verify(beyond) } throws: { StoreError.Code.diverged ~= $0 }
      }
    }

    @Test func `writers that have waited as long as one that fails do not wait again`() throws {
      try program.execute("BEGIN; SELECT userstore.begin_writing(true)", to: "write as another program")
      // The second writer has waited while the first one had its turn. When it fails, the others have, too.
      let second: Body = { transaction in
        do { try set(1)(&transaction) } catch {
          try program.execute("ROLLBACK", to: "end the write")
          throw error
        }
      }
      #expect(try share([set(0), second] + (2...9).map(set)) == Array(repeating: .busy, count: 10))
      #expect(try share([set(0), set(1)]) == [nil, nil])
    }

    @Test func `a time of a consumer that no integer can hold is read`() throws {
      try store.write { transaction in _ = try ConsumerClaim("new", from: .now, in: &transaction) }
      try program.execute("UPDATE userstore.consumers SET at = '294276-12-31'", to: "write as another program")
      #expect(try store.read { try $0.consumers() }.map(\.name) == ["new"])
    }
  }
}
