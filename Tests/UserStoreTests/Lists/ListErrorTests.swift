import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Lists that cannot be read, that are refused, and that are empty.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ListErrorTests {
  private let scene: ListScene
  private var folder: Folder { scene.folder }
  private var store: UserStore { scene.store }
  private var errors: Recorder<String> { scene.errors }
  private var adults: Query { scene.adults }

  init() throws { scene = try ListScene() }

  /// Content that cannot be read while a flag is set.
  private struct Failing: LiveContent {
    var content: any LiveContent
    let fails: @Sendable () -> Bool

    var mentions: Mentions { content.mentions }
    var value: ErasedValue { content.value }

    mutating func load(
      _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
    ) throws(StoreError) -> Bool {
      if fails() { throw StoreError(.ioError, "cannot read") }
      return try content.load(state, at: cursor, discontinuity: discontinuity)
    }

    mutating func apply(
      _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
    ) throws(StoreError) -> Bool? {
      if fails() { throw StoreError(.ioError, "cannot read") }
      return try content.apply(deltas, at: cursor, read)
    }
  }

  @Test func `after an error the next change set is the occasion to read again, whatever it changes`() throws {
    let fails = Lock(false)
    store.liveQueries.configure(.init(adapt: { Failing(content: $0, fails: { fails.withLock { $0 } }) }))
    let (zoe, tim) = (try scene.add("Zoë", age: 20), try scene.add("Tim", age: 20))
    let list = try store.list(Query(where: Attribute<Int>("id") == Int(zoe.rawValue)))
    fails.withLock { $0 = true }
    try store.write { try $0.rename(zoe, to: "Zoe") }
    #expect(scene.names(list.value) == ["Zoë"] && errors.count == 1)
    try store.write { try $0.rename(tim, to: "Tom") }
    #expect(scene.names(list.value) == ["Zoë"] && errors.count == 2)
    fails.withLock { $0 = false }
    try store.write { try $0.rename(tim, to: "Tim") }
    #expect(scene.names(list.value) == ["Zoe"] && errors.count == 2)
  }

  @Test func `a damaged index is an error, and not a list in another order`() throws {
    try store.addIndex(on: "age")
    for age in 20..<60 { try scene.add("\(age)", age: age) }
    store.close()
    // The same text, and a content in the opposite order.
    let name = try #require(AttributeIndex(on: "age").sql.split(separator: "\"").dropFirst().first)
    let sql = try folder.shell("SELECT sql FROM sqlite_schema WHERE name = '\(name)'")
      .trimmingCharacters(in: .newlines)
    try folder.shell(
      """
      DROP INDEX "\(name)";
      \(sql.replacing("value,", with: "value DESC,"));
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'value DESC,', 'value,') WHERE name = '\(name)'
      """)
    let damaged = try folder.open { $0.watchesOtherProcesses = false }
    #expect(code { try damaged.list(Query(sortedBy: [.descending(.age)], limit: 5)) } == .corrupt)
    #expect(!damaged.publication.hasListeners, "a list that could not be read is not followed")
  }

  @Test func `inside a transaction, a list is refused`() throws {
    #expect(code { try store.write { _ in _ = try store.list(adults) } } == .nested)
    #expect(code { try store.read { _ in _ = try store.liveCount() } } == .nested)
    let existing = try store.list(adults)
    #expect(code { try store.write { _ in _ = try store.list(adults) } } == .nested)
    withExtendedLifetime(existing) {}
  }

  @Test func `on a closed store, a list is refused`() async throws {
    let existing = try await store.list(Query())
    await store.close()
    #expect(code { try store.list(Query()) } == .closed)
    withExtendedLifetime(existing) {}
    #expect(code { try store.list(adults) } == .closed)
    #expect(await awaitedCode { try await store.list(adults) } == .closed)
    #expect(!store.publication.hasListeners)
  }

  @Test(arguments: [0, -1]) func `a limit below 1 is refused`(limit: Int) throws {
    let query = Query(limit: limit)
    #expect(code { try store.list(query) } == .badValue)
    #expect(code { try store.read { try $0.users(matching: query) } } == .badValue)
  }

  @Test func `an attribute that nobody has, and a comparison that never holds, give an empty list`() throws {
    try scene.add("Zoë", age: 20)
    let nobody = try store.list(Query(where: Condition("shoe", .greater, .integer(1))))
    let never = try store.list(Query(where: Condition(.name, .greater, .integer(1))))
    #expect(nobody.value.isEmpty && never.value.isEmpty)
    try store.write { try $0.set("shoe", of: User.ID(1), to: .integer(40)) }
    #expect(nobody.value.count == 1)
  }

  @Test(arguments: [0, PagedChanges.rowLimit])
  func `while all readers wait for a delivery, a list and a large set are read all the same`(_ others: Int) throws {
    let list = try store.list(Query(where: .age >= 18, sortedBy: [.ascending(.name)]))
    let zoe = try scene.add("Zoë", age: 3)
    let (reading, written) = (Recorder<Int>(), Gate())
    let readers = try (0..<4).map { number in
      try Threads.start { [store] in
        try store.read { transaction in
          _ = try transaction.count()
          reading.record(number)
          written.wait()
        }
      }
    }
    reading.wait(for: 4)
    // Who enters needs values that are not in the change.
    try store.write { transaction in
      for number in 0..<others { try transaction.set("note", of: zoe, to: .integer(Int64(number))) }
      try transaction.set(.age, of: zoe, to: 20)
    }
    #expect(scene.names(list.value) == ["Zoë"])
    written.open()
    for reader in readers { try reader.join() }
  }
}
