import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// What an access with limits allows.
@Suite struct AccessTests {
  private typealias Access = SyncService.Access

  private let ann = User.ID(1)
  private let bob = User.ID(2)

  @Test func `without limits, everything may be read and written`() {
    let access = Access(subject: "ann")
    #expect(access.may(.read, ann) && access.may(.write, ann) && access.may(.read, "age") && access.may(.write, "age"))
    #expect(access.mayAdd && access.readsAll && access.grant == "all")
    #expect(!Access(subject: "ann", mayAdd: false).mayAdd)
  }

  @Test func `what may be written may be read, and a limit of reading is one of writing`() {
    let both = Access(subject: "ann", mayAdd: true, readableUsers: [bob], writableUsers: [ann])
    #expect(both.may(.read, ann) && both.may(.read, bob) && both.may(.write, ann) && !both.may(.write, bob))
    let reading = Access(subject: "ann", mayAdd: true, readableUsers: [ann], readableAttributes: ["age"])
    #expect(reading.may(.write, ann) && !reading.may(.write, bob) && !reading.may(.read, bob))
    #expect(reading.may(.write, "age") && !reading.may(.write, "city") && !reading.may(.read, "city"))
    #expect(reading.may(.read, .name) && !reading.may(.write, .name), "the name of a user who may be read can be read")
    let writing = Access(subject: "ann", mayAdd: true, readableUsers: nil, writableAttributes: ["age"])
    #expect(writing.may(.read, "city") && !writing.may(.write, "city") && writing.mayAdd)
    let nothing = Access(subject: "ann", mayAdd: true, readableUsers: [])
    #expect(!nothing.may(.read, ann) && !nothing.may(.write, ann) && !nothing.readsAll)
  }

  @Test func `users that the subject has added are read and written`() throws {
    let store = try UserStore.inMemory()
    let access = Access(subject: "ann", mayAdd: true, readableUsers: [ann], writableUsers: [])
    let carl = User.ID(-3)
    try store.write { users in
      for name in ["Ann", "Bob"] { _ = try users.add(name: name) }
      _ = try users.add(access.owned([(.name, .text("Carl"))]), as: carl)
    }
    let resolved = try store.read { try access.resolved(in: &$0) }
    #expect(resolved.may(.write, carl) && !resolved.may(.read, bob) && !resolved.may(.write, ann))
    let added = try #require(store.read { try $0.user(carl) })
    #expect(!access.may(.read, carl) && access.shown(added) == added)
    #expect(try store.read { try $0.ids(matching: UserStore.Query(where: access.readable)) } == [carl, ann])
    #expect(!resolved.may(.write, Access.owner) && Access(subject: "").may(.write, Access.owner))
    #expect(access.mayAdd(User.ID(-9)) && !access.mayAdd(bob) && Access(subject: "ann").mayAdd(bob))
    #expect(
      access.grant == resolved.grant && access.grant != Access(subject: "bob", mayAdd: true, readableUsers: [ann]).grant
    )
    // Who may not add, or may write all users, owns none.
    for other in [Access(subject: "ann"), Access(subject: "ann", mayAdd: false, readableUsers: [ann])] {
      #expect(!other.ownsUsers && other.owned([]).isEmpty)
      #expect(try !store.read { try other.resolved(in: &$0) }.ownedUsers.contains(carl))
    }
  }

  @Test func `whose users were is known at each place of the log`() async throws {
    let seed = Seed.base
    var random = SplitMix64(seed: seed)
    let store = try UserStore.inMemory()
    let access = Access(subject: "ann", mayAdd: true, readableUsers: [bob])
    let owners: [StoredValue] = [.text("ann"), .text("bob"), .text("cleo"), .null]
    let ids = try await store.write { users in try (1...6).map { try users.add(name: "\($0)") } }
    var places: [(cursor: Cursor, owned: Set<User.ID>)] = []
    for turn in 0..<120 {
      let (id, owner) = (ids.randomElement(using: &random)!, owners.randomElement(using: &random)!)
      let isRemoved = random.oneIn(6)
      try await store.write { users in
        if try users.user(id) == nil {
          _ = try users.add([(.name, .text("again")), (Access.owner, owner)], as: id)
        } else if isRemoved {
          try users.remove(id)
        } else {
          try users.set(Access.owner, of: id, to: owner)
        }
        // More than a page of the log, now and then.
        guard turn % 40 == 20, let some = try users.users(limit: 1).first else { return }
        for age in 0..<1_500 { try users.set("age", of: some.id, to: .integer(Int64(age + turn))) }
      }
      places.append(try await store.read { (try $0.cursor, try access.resolved(in: &$0).ownedUsers) })
    }
    // What was read is used again; and with a small limit, it is forgotten.
    for limit in [1_000_000, 300] {
      let history = SyncService.OwnershipHistory(of: store, limit: limit)
      for (cursor, owned) in places.shuffled(using: &random) + places {
        let found = try await history.access(access, at: cursor)
        #expect(found.ownedUsers == owned, "USERSTORE_SEED=\(seed), at \(cursor.revision)")
        let bob = Access(subject: "bob", mayAdd: true, readableUsers: [])
        if random.oneIn(8) { _ = try await history.access(bob, at: cursor) }
      }
    }
    let history = SyncService.OwnershipHistory(of: store)
    _ = try await history.access(access, at: places[0].cursor)
    // What comes later is read on.
    try await store.write { users in
      for id in ids where try users.user(id) != nil { try users.set(Access.owner, of: id, to: .text("cleo")) }
    }
    for (cursor, owned) in places { #expect(try await history.access(access, at: cursor).ownedUsers == owned) }
    #expect(try await history.access(access, at: store.read { try $0.cursor }).ownedUsers == [])
    // Who reads all users needs not know, and who owns none.
    let all = Access(subject: "ann", mayAdd: true, readableUsers: nil, writableUsers: [])
    let now = try await store.read { try all.resolved(in: &$0) }
    #expect(try await history.access(all, at: places[0].cursor).ownedUsers == now.ownedUsers)
    #expect(try await history.access(Access(), at: places[0].cursor).ownedUsers == [])
    // Neither a place that was deleted, nor one of another log, is answered from memory; what is known of another log is forgotten.
    try await store.compact(keeping: RetentionPolicy(.init(changes: 5), consumerLimits: .none))
    let compacted = await #expect(throws: StoreError.self) { try await history.access(access, at: places[0].cursor) }
    #expect(compacted?.code == .compacted)
    for number in 0..<20 { _ = try await store.write { try $0.add(name: "\(number)") } }
    try await store.compact(keeping: RetentionPolicy(.init(changes: 5), consumerLimits: .none))
    #expect(try await history.access(access, at: store.read { try $0.cursor }).ownedUsers == [])
  }

  @Test func `what is known of the log before a restore is forgotten`() async throws {
    let fixture = try SyncFixture()
    let (store, backup) = (fixture.server, fixture.folder + "/backup.db")
    let access = Access(subject: "ann", mayAdd: true, readableUsers: [])
    let id = try await store.write { try $0.add(access.owned([(.name, .text("Ann's"))])) }
    try await store.backup(to: backup)
    let history = SyncService.OwnershipHistory(of: store)
    func handOver(_ owners: String...) async throws {
      for owner in owners { try await store.write { try $0.set(Access.owner, of: id, to: StoredValue.text(owner)) } }
    }
    try await handOver("bob")
    let old = try await store.read { try $0.cursor }
    try await handOver("ann", "bob", "ann", "bob", "ann", "bob")
    #expect(try await history.access(access, at: old).ownedUsers == [])
    try await store.restore(from: backup)
    let new = try await store.read { try $0.cursor }
    // The log ends among the numbers that are known of the other one.
    try await handOver("cleo", "ann", "cleo")
    let error = await #expect(throws: StoreError.self) { try await history.access(access, at: old) }
    #expect(error?.code == .diverged)
    #expect(try await history.access(access, at: new).ownedUsers == [id])
    #expect(try await history.access(access, at: store.read { try $0.cursor }).ownedUsers == [])
  }

  @Test func `from each place of the log, somebody sees what was theirs, and nothing else`() async throws {
    let seed = Seed.base
    var random = SplitMix64(seed: seed)
    let store = try UserStore.inMemory()
    let access = Access(subject: "ann", mayAdd: true, readableUsers: [])
    let history = SyncService.OwnershipHistory(of: store)
    let (people, own) = (["ann", "ann", "bob", "cleo"], StoredValue.text("ann"))
    let ids = (1...4).map { User.ID(Int64(-$0)) }
    /// The owners of users now, and for each set, by its end, all that a user had in it.
    var (owners, sets) = ([User.ID: StoredValue](), [Revision: [User.ID: Set<StoredValue>]]())
    var (places, purged) = ([try await store.read { try $0.cursor }], Set<User.ID>())
    for turn in 0..<200 {
      let id = ids.randomElement(using: &random)!
      var had = owners.mapValues { Set([$0]) }
      // A set of several transactions of another program has several changes of the owner.
      var choices: [(choice: UInt64, owner: StoredValue)] = []
      for _ in 0..<(random.oneIn(2) ? Int.random(in: 2...4, using: &random) : 1) {
        let person = random.oneIn(3) ? StoredValue.null : .text(people.randomElement(using: &random)!)
        let choice = owners[id] == nil ? 9 : random.next() % 5
        choices.append((choice, person))
        if choice <= 3 || choice == 9 { owners[id] = choice == 0 ? nil : person }
        if let owner = owners[id] { had[id, default: []].insert(owner) }
      }
      try await store.write { [choices] users in
        for (place, (choice, owner)) in choices.enumerated() {
          if choice <= 1 { try users.remove(id) }
          if choice == 1 || choice == 9 {
            _ = try users.add([(.name, .text("\(turn)")), (Access.owner, owner)], as: id)
          } else if choice >= 2 {
            try users.set("note", of: id, to: .text("\(turn), \(place)"))
            // With values of both.
            if choice <= 3 { try users.set(Access.owner, of: id, to: owner) }
          }
        }
      }
      if owners[id] == nil, random.oneIn(2) {
        try await store.purge(id)
        purged.insert(id)
      }
      let cursor = try await store.read { try $0.cursor }
      sets[cursor.revision] = had
      places.append(cursor)
      // What is known before a purge is used after it.
      _ = try await history.access(access, at: places.randomElement(using: &random)!)
    }
    for place in places {
      var (following, cursor) = (try await history.access(access, at: place), place)
      while case let page = try await store.page(after: cursor), let last = page.last {
        for set in page {
          let (after, _) = following.follow(try set.entries)
          for case .change(let change) in try set.entries {
            let (shown, origin) = (following.shows(.change(change)), "USERSTORE_SEED=\(seed), \(change)")
            guard let had = sets[set.revision]?[change.user] else { continue }
            if shown, !change.isPurged {
              #expect(had.contains(own), "\(origin)")
              #expect(change.attribute == Access.owner || had == [own], "\(origin)")
            } else if had == [own], !purged.contains(change.user) {
              Issue.record("not shown: \(origin)")
            }
          }
          following = after
        }
        cursor = last.cursor
      }
    }
  }

  @Test func `subjects that Swift finds equal are different people`() async throws {
    // Since Unicode 16. Foundation does not know it, so both are in the form NFC.
    let (ann, other) = ("\u{105D2}\u{307}", "\u{105C9}")
    try #require(ann == other)
    let store = try UserStore.inMemory()
    let id = try await store.write { try $0.add([(.name, .text("Zoë")), (Access.owner, .text(ann))]) }
    let place = try await store.read { try $0.cursor }
    try await store.write { try $0.remove(id) }
    let history = SyncService.OwnershipHistory(of: store)
    for _ in 0..<2 {
      for subject in [ann, other] {
        let access = Access(subject: subject, mayAdd: true, readableUsers: [])
        let owns = subject.utf8.elementsEqual(ann.utf8)
        #expect(try await history.access(access, at: place).ownedUsers == (owns ? [id] : []))
      }
    }
  }

  @Test func `whose a user is, is learned in the transaction that needs it`() throws {
    let store = try UserStore.inMemory()
    let access = Access(subject: "ann", mayAdd: true, readableUsers: [bob])
    try store.write { users in
      for name in ["Ann", "Bob", "Cleo"] { _ = try users.add([(.name, .text(name)), (Access.owner, .text("ann"))]) }
      try users.set(Access.owner, of: ann, to: .null)
      var now = access
      for id in 1...4 { try now.resolve(User.ID(Int64(id)), in: &users) }
      #expect((1...4).map { now.may(.write, User.ID(Int64($0))) } == [false, true, true, false])
      // It is asked once; what the subject adds is its own.
      try users.set(Access.owner, of: ann, to: .text("ann"))
      try now.resolve(ann, in: &users)
      #expect(!now.may(.write, ann))
      now.add(ann)
      #expect(now.may(.write, ann))
    }
  }

  @Test func `the size of what may not be read decides nothing`() throws {
    let store = try UserStore.inMemory()
    var access = Access(subject: "ann", mayAdd: false, readableUsers: [ann, bob], readableAttributes: ["note"])
    access.userByteLimit = 1_000
    for (note, secret) in [(900, 5_000), (1_100, 0)] {
      let user = try store.write { users in
        let texts = [note, secret].map { StoredValue.text(String(repeating: "x", count: $0)) }
        return try users.user(users.add([(.name, .text("Ann")), ("note", texts[0]), ("secret", texts[1])]))
      }
      #expect(try access.isTooLarge(#require(user)) == (note > 1_000))
    }
  }

  @Test func `somebody who owns users gets no part of a set`() async throws {
    let store = try UserStore.inMemory()
    let access = Access(subject: "ann", mayAdd: true, readableUsers: [])
    let id = try await store.write { try $0.add(access.owned([(.name, .text("Ann's"))])) }
    let start = try await store.read { try $0.cursor }
    for age in 1...2 {
      try await store.write { try $0.set(Access.owner, of: id, to: StoredValue.text("bob \(age)")) }
    }
    let service = try SyncService(store)
    // Not even when the part is the end of the log, after which only what follows would be read.
    let end = try await store.read { try $0.cursor }
    let request = SyncRequest(.changes(after: start, part: end, also: nil, wait: 0))
    let error = await #expect(throws: StoreError.self) { try await service.answer(request, for: access) }
    #expect(error?.code == .diverged && error?.message.contains("parts") == true)
    _ = try await service.answer(request)
  }

  @Test func `whose a value is, and what refers to a user, is told only to somebody who sees all`() {
    let limited = Access(subject: "ann", mayAdd: true, readableUsers: nil, readableAttributes: ["age"])
    for code in [StoreError.Code.notUnique, .stillReferenced] {
      let error = StoreError(code, "bob has the secret")
      #expect(Access(subject: "ann").message(of: error) == error.message && !limited.message(of: error).contains("bob"))
    }
    #expect(limited.message(of: StoreError(.badValue, "too long")) == "too long")
  }

  @Test func `owners are followed in the log`() throws {
    let store = try UserStore.inMemory()
    var access = Access(subject: "ann", mayAdd: true, readableUsers: [])
    func expect(_ isHandedOver: Bool, _ changes: [String], _ write: (inout WriteTransaction) throws -> Void) throws {
      let start = try store.read { try $0.cursor }
      try store.write { try write(&$0) }
      let entries = try store.page(after: start).flatMap { try $0.entries }
      let (after, found) = access.follow(entries)
      #expect(found == isHandedOver)
      let names = entries.filter { access.shows($0) }.compactMap {
        if case .change(let change) = $0 { change.attribute.text } else { nil }
      }
      #expect(names.sorted() == changes.sorted())
      access = after
    }
    let own: [(attribute: AttributeName, value: StoredValue)] = access.owned([(.name, .text("Own"))])
    try expect(false, []) { _ = try $0.add(name: "Ann") }
    try expect(false, ["name", "hair_color", "owner_subject"]) { _ = try $0.add(own) }
    try expect(false, ["age"]) { for id in 1...2 { try $0.set("age", of: User.ID(Int64(id)), to: .integer(1)) } }
    try expect(true, ["owner_subject"]) { try $0.set(Access.owner, of: User.ID(1), to: .text("ann")) }
    try expect(true, ["owner_subject"]) { try $0.set(Access.owner, of: User.ID(2), to: .text("bob")) }
    try expect(false, ["age"]) { for id in 1...2 { try $0.set("age", of: User.ID(Int64(id)), to: .integer(2)) } }
    try expect(false, ["name", "hair_color", "age", "owner_subject"]) { try $0.remove(User.ID(1)) }
    try expect(false, []) { _ = try $0.add([(.name, .text("again"))], as: User.ID(1)) }
    // The owner belongs to the addition only if nothing is said of the user before.
    let all = ["name", "hair_color", "owner_subject", "age"]
    let values: [(attribute: AttributeName, value: StoredValue)] = [("age", .integer(3)), (.name, .text("new"))]
    try expect(false, all) { _ = try $0.add(Access().owned(values + [(Access.owner, .text("ann"))])) }
    try expect(true, ["owner_subject"]) { _ = try $0.add(values + [(Access.owner, .text("ann"))]) }
    try expect(true, ["owner_subject"]) { users in
      let id = try users.add(name: "new")
      try users.post("seen", about: id)
      try users.set(Access.owner, of: id, to: .text("ann"))
    }
  }

  @Test func `users and entries are shown without what may not be read`() throws {
    let store = try UserStore.inMemory()
    try store.write { users in
      let id = try users.add([(.name, .text("Ann")), ("age", .integer(7)), ("city", .text("x"))])
      try users.post("seen", about: id)
      try users.post("closed")
    }
    let user = try #require(try store.read { try $0.user(ann) })
    let access = Access(subject: "ann", mayAdd: false, readableUsers: [ann], readableAttributes: ["age"])
    #expect(access.shown(user)?.storedValues == [.name: .text("Ann"), "age": .integer(7)])
    #expect(Access(subject: "ann", mayAdd: false, readableUsers: [bob]).shown(user) == nil)
    #expect(Access(subject: "ann").shown(user) == user)
    let entries = try store.page(after: store.read { try $0.oldestCursor }).flatMap { try $0.entries }
    func shown(_ access: Access) -> [String] {
      entries.filter { access.shows($0) }.map {
        switch $0 {
        case .change(let change): change.attribute.text
        case .event(let event): event.name
        }
      }
    }
    #expect(shown(access) == ["name", "age", "seen"])
    #expect(shown(Access(subject: "ann")).count == entries.count)
    #expect(shown(Access(subject: "ann", mayAdd: false, readableUsers: [bob])).isEmpty)
  }

  @Test func `the grant names what may be read, and nothing else`() {
    func grant(_ users: Set<User.ID>?, _ attributes: Set<AttributeName>? = nil, writable: Set<User.ID> = []) -> String {
      Access(
        subject: "\(writable.count)", mayAdd: false, readableUsers: users, writableUsers: writable,
        readableAttributes: attributes, writableAttributes: []
      ).grant
    }
    let all = [
      grant(nil), grant([]), grant([ann]), grant([ann, bob]), grant([User.ID(12)]), grant(nil, []), grant(nil, ["age"]),
      grant(nil, ["age", "city"]), grant([ann], ["age"]),
    ]
    #expect(Set(all).count == all.count)
    #expect(grant([ann, bob]) == grant([bob], writable: [ann]), "what may be written may be read")
    #expect(grant([ann, bob], ["b", "a"]) == grant([bob, ann], ["a", "b"]))
  }
}
