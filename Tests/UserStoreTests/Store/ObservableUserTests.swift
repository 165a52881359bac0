import Observation
import Testing

@testable import UserStore

private let age = Attribute<Int>("age")

/// A user as an observable object on the main actor.
@MainActor @Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) struct ObservableUserTests {
  private let store: UserStore
  private let id: User.ID
  private let received = Recorder<String>()

  init() throws {
    store = try UserStore.forTests()
    id = try store.write { try $0.add(name: "NIX", hairColor: Color("black")) }
  }

  /// Waits until the main actor has received all earlier changes.
  private func settle(_ store: UserStore) async throws {
    let fence = Recorder<Int>()
    let token = store.listeners.bind(to: .everything, on: .main) { _ in fence.record(1) }
    _ = try await store.write { try $0.add(name: "fence") }
    await fence.reached(1)
    withExtendedLifetime(token) {}
  }

  /// Records, once, when a property that `body` reads is about to change.
  private func watch(_ what: String, _ body: () -> Void) {
    withObservationTracking(body) { [received] in received.record(what) }
  }

  @Test func `it has the values in the store and follows their changes`() async throws {
    let user = try await store.observable(id)
    #expect((user.name, user.hairColor, user[age], user.exists) == ("NIX", Color("black"), nil, true))
    try await store.write {
      try $0.rename(id, to: "Zoë")
      try $0.set(age, of: id, to: 36)
      try $0.set(.hairColor, of: id, to: nil)
    }
    try await settle(store)
    #expect((user.name, user.hairColor, user[age]) == ("Zoë", nil, 36))
    try await store.write { _ = try $0.remove(id) }
    try await settle(store)
    #expect((user.name, user.hairColor, user[age], user.exists) == (nil, nil, nil, false))
  }

  @Test func `two spellings of an attribute are observed separately`() async throws {
    let spellings = ["\u{E9}", "e\u{301}"].map { Attribute<Int>($0) }
    let user = try await store.observable(id)
    for (number, attribute) in spellings.enumerated() { watch("\(number)") { _ = user[attribute] } }
    try await store.write { try $0.set(spellings[1], of: id, to: 1) }
    try await settle(store)
    #expect(received.all == ["1"])
  }

  @Test func `only observers that read a changed property are notified`() async throws {
    let user = try await store.observable(id)
    watch("name") { _ = user.name }
    watch("hair") { _ = user.hairColor }
    watch("age") { _ = user[age] }
    watch("age as text") { _ = user[Attribute<String>("age")] }
    watch("exists") { _ = user.exists }
    try await store.write { try $0.set(age, of: id, to: 36) }
    try await settle(store)
    #expect(Set(received.all) == ["age", "age as text"])
    try await store.write { try $0.set(.hairColor, of: id, to: Color("white")) }
    try await settle(store)
    #expect(received.all.count == 3 && received.all.last == "hair")
    try await store.write { try $0.rename(id, to: "Zoë") }
    try await settle(store)
    #expect(Set(received.all[3...]) == ["name", "exists"])
  }

  @Test func `two attributes that change in one commit change in one turn`() async throws {
    let user = try await store.observable(id)
    watch("both") {
      _ = (user.name, user.hairColor)
    }
    let token = Signal(observing: user, \.both).subscribe { [received] in received.record($0) }
    try await store.write {
      try $0.rename(id, to: "Zoë")
      try $0.set(.hairColor, of: id, to: Color("white"))
    }
    await received.reached { $0.last == "Zoë #ffffff" }
    #expect(received.all == ["NIX #000000", "both", "Zoë #ffffff"])
    withExtendedLifetime(token) {}
  }

  @Test func `an attribute that ends with its old value has not changed`() async throws {
    let user = try await store.observable(id)
    watch("name") { _ = user.name }
    try await store.write {
      try $0.rename(id, to: "x")
      try $0.rename(id, to: "NIX")
    }
    try await settle(store)
    #expect(received.all == [])
  }

  @Test func `a value that is not of the type is nil, and a user that is added later is followed`() async throws {
    let user = try await store.observable(id)
    let nobody = try await store.observable(User.ID(2))
    #expect(!nobody.exists)
    try await store.write { try $0.set(Attribute<String>("age"), of: id, to: "old") }
    try await settle(store)
    #expect(user[age] == nil && user[Attribute<String>("age")] == "old")
    #expect(nobody.exists && nobody.name == "fence")
  }

  @Test func `no change is missed or reversed while the object is created`() async throws {
    let (store, id) = (store, id)
    let writer = try Threads.start {
      for number in 1...500 { _ = try store.write { try $0.set(age, of: id, to: number) } }
    }
    var last = 0
    while last < 500 {
      let user = try await store.observable(id)
      var present = user[age] ?? 0
      #expect(present >= last)
      for _ in 0..<3 {
        await Task.yield()
        let next = user[age] ?? 0
        #expect(next >= present)
        present = next
      }
      last = present
    }
    try await writer.joined()
  }

  @Test func `it does not hold the store, and keeps its values after the store is released or closed`() async throws {
    var store: UserStore? = try UserStore.forTests()
    weak let keptStore = store
    let id = try await store?.write { try $0.add(name: "NIX") } ?? User.ID(0)
    var user = try await store?.observable(id)
    weak let keptUser = user
    let hub = store?.listeners
    #expect(hub?.count == 1)
    store = nil
    #expect(keptStore == nil && user?.name == "NIX")
    user = nil
    #expect(keptUser == nil)
    let other = try await self.store.observable(self.id)
    #expect(self.store.listeners.count == 1)
    await self.store.close()
    #expect(other.name == "NIX")
    #expect(code { try self.store.observable(self.id) } == .closed)
    #expect(self.store.listeners.count == 0)
  }

  @Test func `releasing it removes its listener from the store`() throws {
    var user: ObservableUser? = try store.observable(id)
    #expect(store.listeners.count == 1 && user != nil)
    user = nil
    #expect(store.listeners.count == 0)
  }

  /// What the reads of a user return, the first at round 10, the second at 20.
  private func observable(
    _ listeners: Listeners, _ reads: Recorder<User.ID>, failingAt failure: Int = .max
  ) async throws -> ObservableUser {
    let user = ObservableUser(id, listeners, write: store.observedWrite) { [id] in
      reads.record(id)
      if reads.count == failure { throw StoreError(.ioError, "no") }
      return (User(id: id, storedValues: ["name": .text("read \(reads.count)")]), Int128(reads.count * 10))
    }
    try await user.reload()
    return user
  }

  @Test func `after a discontinuity the user is read again, and changes before that read are skipped`() async throws {
    let errors = Recorder<String?>()
    let listeners = Listeners { name, error in errors.record((error as? StoreError)?.message) }
    let user = try await observable(listeners, Recorder(), failingAt: 3)
    post(.discontinuity(.diverged), 15, to: listeners)
    await turns { user.name == "read 2" }
    post(.held([rename(to: "known", at: 20)]), 20, to: listeners)
    post(.held([rename(to: "new", at: 21)]), 21, to: listeners)
    await turns { user.name != "read 2" }
    #expect(user.name == "new")
    post(.discontinuity(.diverged), 30, to: listeners)
    await errors.reached(1)
    #expect(errors.all == ["no"] && user.name == "new")
    // The values are from before the discontinuity, so that a change of one attribute does not make them current.
    post(.held([rename(to: "later", at: 31)]), 31, to: listeners)
    await turns { user.name == "read 4" }
  }

  @Test func `when the store is closed before the user is read again, no error is reported`() async throws {
    let errors = Recorder<String?>()
    let listeners = Listeners { _, error in errors.record("\(error)") }
    let reads = Recorder<Void>()
    let user = ObservableUser(id, listeners, write: store.observedWrite) { [id] in
      reads.record(())
      if reads.count > 1 { throw StoreError(.closed, "the store is closed") }
      return (User(id: id, storedValues: ["name": .text("read")]), 10)
    }
    try await user.reload()
    post(.discontinuity(.diverged), 15, to: listeners)
    await reads.reached(2)
    await turns(100)
    #expect(errors.all == [] && user.name == "read")
  }

  @Test func `changes that arrive while the user is read are applied after it`() async throws {
    let listeners = Listeners { _, _ in }
    let (reads, mayRead) = (Recorder<User.ID>(), Gate())
    let user = ObservableUser(id, listeners, write: store.observedWrite) { [id] in
      reads.record(id)
      try await Threads.start { mayRead.wait() }.joined()
      return (User(id: id, storedValues: ["name": .text("read")]), 20)
    }
    let reading = Task { try await user.reload() }
    await reads.reached(1)
    post(.held([rename(to: "known", at: 20)]), 20, to: listeners)
    post(.held([rename(to: "new", at: 21)]), 21, to: listeners)
    await turns(500)
    #expect(user.name == nil)
    mayRead.open()
    try await reading.value
    #expect(user.name == "new")
  }

  @Test func `a huge set that was compacted before its delivery is not an error, and the user is read again`()
    async throws
  {
    let errors = Recorder<String>()
    let listeners = Listeners { _, error in errors.record("\(error)") }
    let user = try await observable(listeners, Recorder())
    post(.paged(PagedChanges(start: 10, end: 2_000, source: Deleted())), 15, to: listeners)
    await turns { user.name == "read 2" }
    post(.held([rename(to: "known", at: 20)]), 20, to: listeners)
    post(.held([rename(to: "new", at: 21)]), 21, to: listeners)
    await turns { user.name == "new" }
    #expect(errors.all == [])
  }

  private struct Deleted: PageSource {
    func page(after start: Int64, through end: Int64) throws(StoreError) -> PagedChanges.Page {
      throw StoreError(.compacted, "the changes were deleted")
    }

    func awaitedPage(after start: Int64, through end: Int64) async throws -> PagedChanges.Page {
      try page(after: start, through: end)
    }
  }

  private func rename(to name: String, at sequence: Int64) -> Change {
    Change(
      kind: .updated, user: id, attribute: "name", old: .null, new: .text(name), timestamp: 0, sequence: sequence)
  }

  private func post(_ content: ChangeSet.Content, _ position: Int128, to listeners: Listeners) {
    let cursor = Cursor(epoch: 1, revision: Int64(position), nonce: 1)
    var set = ChangeSet(cursor: cursor, origin: nil, isForeign: true, content: content)
    set.position = position
    let hub = listeners.hub
    hub.deliver(through: hub.append(set, cascade: nil))
  }

  // MARK: Setting

  @Test func `what is set is shown at once, and then committed`() async throws {
    let user = try await store.observable(id)
    watch("name") { _ = user.name }
    user.name = "Zoë"
    #expect(user.name == "Zoë" && received.all == ["name"])
    user[age] = 36
    user.hairColor = nil
    #expect((user[age], user.hairColor) == (36, nil))
    try await settle(store)
    let stored = try #require(try await store.user(id))
    #expect(try (stored.name, stored[age], stored.hairColor) == ("Zoë", 36, nil))
    #expect((user.name, user[age], user.hairColor) == ("Zoë", 36, nil))
  }

  /// Records the name now and whenever it has changed, as a view does.
  private func follow(_ user: ObservableUser, _ shown: Recorder<String?>) {
    withObservationTracking {
      shown.record(user.name)
    } onChange: {
      Task { @MainActor in follow(user, shown) }
    }
  }

  @Test func `a view that types shows only what it typed last`() async throws {
    let user = try await store.observable(id)
    let shown = Recorder<String?>()
    follow(user, shown)
    for length in 1...20 {
      user.name = String(repeating: "a", count: length)
      if length % 5 == 0 { await Task.yield() }
    }
    try await settle(store)
    await turns { user.name?.count == 20 && shown.all.last??.count == 20 }
    let lengths = shown.all.dropFirst().map { $0?.count ?? 0 }
    #expect(lengths == lengths.sorted() && lengths.last == 20)
    #expect(try await store.user(id)?.name.count == 20)
  }

  @Test func `reads of a user do not overtake each other`() async throws {
    let (reads, mayEnd) = (Recorder<Int>(), Gate())
    let user = ObservableUser(id, store.listeners, write: store.observedWrite) { [store, id] in
      let (user, cursor) = try await store.read { (try $0.user(id), try $0.cursor) }
      reads.record(reads.count + 1)
      if reads.count == 2 { try await Threads.start { mayEnd.wait() }.joined() }
      return (user, store.publication.round(at: cursor))
    }
    try await user.reload()
    user.name = "Zoë"
    await reads.reached(2)
    // Committed after that read has seen its state.
    user[age] = 36
    await turns { (try? store.user(id)?[age]) == 36 }
    await turns(100)
    #expect(reads.count == 2)
    mayEnd.open()
    await reads.reached(3)
    await turns(100)
    #expect((user.name, user[age]) == ("Zoë", 36))
  }

  @Test func `a refused value is reported, and the committed one is shown again`() async throws {
    let errors = Recorder<String>()
    var configuration = Configuration()
    configuration.onListenerError = { _, error in errors.record("\(error)") }
    let store = try UserStore.forTests(configuration: configuration)
    let id = try await store.write { try $0.add(name: "NIX") }
    let user = try await store.observable(id)
    user.name = ""
    #expect(user.name == "")
    await errors.reached(1)
    await turns { user.name == "NIX" }
    #expect(user.name == "NIX")
    #expect(user.lastError?.code == .badValue)
    watch("error") { _ = user.lastError }
    user.name = "Zoë"
    await turns { user.lastError == nil }
    #expect(user.lastError == nil && received.all == ["error"] && user.name == "Zoë")
    user.name = "NIX"
    await turns { (try? store.user(id)?.name) == "NIX" }
    await store.close()
    user[age] = 8
    await errors.reached(2)
    await turns { user[age] == nil }
    #expect(user[age] == nil && user.name == "NIX" && user.lastError?.code == .closed)
  }

  @Test(arguments: [Color("brown"), nil]) func `a value that was committed just before the store was closed stays`(
    color: Color?
  ) async throws {
    // The listeners are another store's, so that the committed set does not arrive.
    let silent = try UserStore.forTests()
    let current = try await store.read { (try $0.user(id), Int128(0)) }
    let user = ObservableUser(id, silent.listeners, write: store.observedWrite) { throw SessionPool.closed }
    user.finish(current)
    user.hairColor = color
    watch("end of the edit") { _ = user.hairColor }
    await received.reached(1)
    await turns()
    #expect(user.hairColor == color && user.lastError == nil)
  }

  @Test func `a binding has a default, and sets what it is given`() async throws {
    let user = try await store.observable(id)
    // As `$user[age, default: 18]` of SwiftUI makes it.
    let path = \ObservableUser.[age, default: 18]
    #expect(user[keyPath: path] == 18)
    watch("age") { _ = user[keyPath: path] }
    user[keyPath: path] = 18
    #expect(user[age] == 18 && received.all == ["age"])
    try await settle(store)
    #expect(try await store.user(id)?[age] == 18)
  }

  @Test func `a row of a list can be set`() async throws {
    let list = try await store.observableList(UserStore.Query(showing: [.name]))
    let row = try #require(list.first)
    row.name = "Zoë"
    #expect(row.name == "Zoë")
    try await settle(store)
    #expect(try await store.user(id)?.name == "Zoë")
    await turns { row.name == "Zoë" }
    #expect(row.name == "Zoë")
  }
}

extension ObservableUser {
  fileprivate var both: String { "\(name ?? "-") \(hairColor.map { "\($0)" } ?? "-")" }
}
