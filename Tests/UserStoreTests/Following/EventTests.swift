import TestSupport
import Testing

@testable import UserStore

/// Events: posted in a transaction, delivered in order with its changes, and ignored by everything that is about records.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct EventTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID

  init() throws {
    folder = try Folder()
    store = try folder.open()
    zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
  }

  @Test func `an event is delivered in order with the changes of its write`() throws {
    let received = Recorder<ChangeSet>()
    store.listeners.bind("all", to: .everything) { received.record($0) }
    try store.write(origin: "form") { users in
      try users.rename(zoe, to: "one")
      try users.post("invited", .text(#"{"by":2}"#), about: zoe)
      try users.rename(zoe, to: "two")
      try users.post("done")
    }
    let set = try #require(received.all.first)
    #expect(received.count == 1 && set.origin == "form")
    #expect(try set.entryLines == ["one", #"invited {"by":2}"#, "two", "done"])
    #expect(try set.changes.map(\.new) == [.text("one"), .text("two")])
    let events = try set.events
    #expect(events.map(\.user) == [zoe, nil] && events[1].payload == .null && events[0].timestamp > 1_700_000_000_000)
    #expect(try store.allChanges().last?.entryLines == set.entryLines)
  }

  @Test func `each topic receives its events`() throws {
    let calls = Recorder<String>()
    func bind(_ name: String, _ topic: Topic) {
      store.listeners.bind(name, to: topic) { set in
        calls.record("\(name): \(try set.entryLines.joined(separator: ", "))")
      }
    }
    bind("all", .everything)
    bind("zoe", .user(zoe))
    bind("other", .user(User.ID(99)))
    bind("invited", .event("invited"))
    bind("paid", .event("paid"))
    bind("name", .attribute(.name))
    // An event with the name of an attribute is no change of it.
    bind("attribute", .attributeOfUser("invited", zoe))
    try store.write { try $0.post("invited", about: zoe) }
    #expect(calls.all == ["all: invited", "zoe: invited", "invited: invited"])
    try store.write { users in
      try users.post("paid")
      try users.rename(zoe, to: "x")
    }
    #expect(calls.all.dropFirst(3) == ["all: paid, x", "zoe: x", "paid: paid", "name: x"])
  }

  @Test func `an event alone is a set without changes, which lists and values ignore`() throws {
    let name = try store.listenable(.name, of: zoe)
    let names = Recorder<String?>()
    name.bind("name") { names.record($0) }
    let list = try store.list(Query())
    let lists = Recorder<Int>()
    list.bind("list") { lists.record($0.count) }
    let count = try store.liveCount()
    let counts = Recorder<Int>()
    count.bind("count") { counts.record($0) }
    let before = try store.read { try $0.cursor }
    try store.write { try $0.post("name", .text("trap"), about: zoe) }
    try store.write { try $0.post("hair_color", .text("#000000"), about: zoe) }
    let sets = try store.allChanges(after: before)
    #expect(try sets.map { try $0.changes.count } == [0, 0] && sets.map(\.isForeign) == [false, false])
    #expect(name.value == "Zoë" && names.count == 0 && lists.count == 0 && counts.count == 0)
    #expect(try store.user(zoe)?.hairColor == Color("auburn"))
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  @Test func `a consumer of events is an outbox`() async throws {
    let mailer = try await store.consumer("mailer", of: [.event("mail")])
    try await store.write { users in
      try users.post("mail", .text("one"))
      try users.post("other")
      try users.rename(zoe, to: "x")
    }
    try await store.write { try $0.rename(zoe, to: "y") }
    try await store.write { try $0.post("mail", .text("two")) }
    var sent: [StoredValue] = []
    for set in try await mailer.next(2) {
      #expect(try set.changes == [])
      sent += try set.events.map(\.payload)
      try await mailer.acknowledge(set)
    }
    #expect(sent == [.text("one"), .text("two")])
    // Another process continues after what was acknowledged.
    let next = try await store.consumer("mailer", of: [.event("mail")])
    try await store.write { try $0.post("mail", .text("three")) }
    #expect(try await next.next(1)[0].events.map(\.payload) == [.text("three")])
  }

  @Test func `acknowledging through the last change of a set leaves the events after it`() async throws {
    let mailer = try await store.consumer("mailer")
    try await store.write { users in
      try users.post("first")
      try users.rename(zoe, to: "x")
      try users.post("last")
    }
    let set = try await mailer.next(1)[0]
    try await mailer.acknowledge(set, through: set.changes[0])
    try await mailer.flush()
    let rest = try await store.consumer("mailer").next(1)[0]
    #expect(try rest.isContinued && rest.entryLines == ["last"] && rest.cursor == set.cursor)
    // Nothing comes after this change.
    try await store.write { users in
      try users.post("first")
      try users.rename(zoe, to: "y")
    }
    let next = try await store.consumer("mailer", from: .after(set.cursor)).next(2)[1]
    try await mailer.flush()
    let again = try await store.consumer("mailer")
    try await again.acknowledge(next, through: next.changes[0])
    #expect(try await again.cursor() == next.cursor)
  }

  @Test(arguments: [false, true])
  func `acknowledging through an event leaves what comes after it`(_ inWrite: Bool) async throws {
    let mailer = try await store.consumer("mailer")
    try await store.write { users in
      try users.post("first")
      try users.rename(zoe, to: "x")
      try users.post("last")
    }
    let set = try await mailer.next(1)[0]
    let events = try set.events
    func acknowledge(_ event: UserStore.Event) async throws {
      if inWrite {
        try await store.write { try mailer.acknowledge(set, through: .event(event), in: &$0) }
      } else {
        try await mailer.acknowledge(set, through: .event(event))
        try await mailer.flush()
      }
    }
    try await acknowledge(events[0])
    let rest = try await store.consumer("again", from: .after(mailer.cursor())).next(1)[0]
    #expect(try rest.isContinued && rest.entries.count == 2 && rest.events.map(\.name) == ["last"])
    // Nothing comes after this event.
    try await acknowledge(events[1])
    #expect(try await mailer.cursor() == set.cursor)
  }

  @Test(arguments: [
    StoredValue.null, .integer(.min), .real(-.infinity), .text("a\u{0}b"), .text(""), .blob([0, 255]),
    .invalidText([0xFF]),
  ])
  func `every stored value can be a payload`(_ payload: StoredValue) throws {
    try store.write { try $0.post("any", payload) }
    #expect(try store.allChanges().last?.events.map(\.payload) == [payload])
  }

  // Closures, because the output has the arguments of a test: 16 MiB would be 50 MB of text.
  @Test(
    arguments: [
      { ("", .null) }, { (String(repeating: "x", count: 201), .null) }, { ("a\nb", .null) }, { ("x", .real(.nan)) },
      { ("x", .blob(Array(repeating: 0, count: Limits.valueBytes + 1))) },
    ] as [@Sendable () -> (String, StoredValue)])
  func `a bad event is refused, and the write goes on`(_ event: @Sendable () -> (String, StoredValue)) throws {
    let (name, payload) = event()
    let before = try store.read { try $0.cursor }
    try store.write { users in
      #expect(code { try users.post(name, payload) } == .badValue)
      #expect(code { try users.post("about", about: User.ID(99)) } == .userNotFound)
      try users.rename(zoe, to: "x")
    }
    #expect(try store.allChanges(after: before).map { try $0.entryLines } == [["x"]])
  }

  @Test func `a payload can be encoded as JSON, with sorted members`() throws {
    struct Invitation: Codable {
      let to: String
      let by: Int
    }
    try store.write { users in
      try users.post("invited", json: Invitation(to: "a\"", by: 2), about: zoe)
      try users.post("list", json: [1, 2])
      try users.post("text", json: "x")
    }
    let payloads = try store.allChanges().last?.events.map(\.payload)
    #expect(payloads == [.text(#"{"by":2,"to":"a\""}"#), .text("[1,2]"), .text(#""x""#)])
  }

  @Test func `an event of a write that fails is not delivered`() throws {
    let calls = Recorder<Int>()
    store.listeners.bind("all", to: .everything) { _ in calls.record(1) }
    let before = try store.read { try $0.cursor }
    #expect(throws: CancellationError.self) {
      try store.write { users in
        try users.post("lost")
        throw CancellationError()
      }
    }
    #expect(calls.count == 0)
    #expect(try store.read { try $0.cursor } == before)
  }

  @Test func `undo skips events, and sets of nothing else`() throws {
    let named = try store.write { users in
      try users.rename(zoe, to: "x")
      try users.post("renamed", about: zoe)
      return try users.revision
    }
    let posted = try store.write { users in
      try users.post("alone")
      return try users.revision
    }
    let error = #expect(throws: StoreError.self) { try store.write { try $0.undo(posted) } }
    #expect(error?.code == .revisionNotFound && error?.message.contains("only events") == true, "\(error as Any)")
    #expect(try store.write { try $0.undo() } == named)
    #expect(try store.user(zoe)?.name == "Zoë")
    #expect(try store.allChanges().last?.entryLines == ["Zoë"])
  }

  @Test func `a huge set has its events where they were posted, in each topic`() throws {
    let parts = Recorder<[String]>()
    store.listeners.bind("mail", to: .event("mail")) { set in parts.record(try set.entryLines) }
    try store.write { users in
      for number in 0..<1_500 {
        try users.rename(zoe, to: "\(number)")
        if number % 500 == 250 { try users.post("mail", .integer(Int64(number))) }
      }
    }
    #expect(parts.all == [["mail 250", "mail 750", "mail 1250"]])
    let set = try #require(try store.allChanges().last)
    #expect(set.heldChanges == nil)
    let lines = try set.entryLines
    #expect(lines.count == 1_503 && lines[250...252] == ["250", "mail 250", "251"])
    #expect(try set.events.count == 3 && set.changes.count == 1_500)
  }

  @Test func `payloads count for what a part of a huge set holds in memory`() throws {
    let parts = Recorder<ChangeSet>()
    store.listeners.bind("mail", to: .event("mail")) { parts.record($0) }
    let payload = StoredValue.text(String(repeating: "x", count: PagedChanges.byteLimit / 2))
    try store.write { users in
      try users.rename(zoe, to: "x")
      for _ in 0..<3 { try users.post("mail", payload) }
      try users.post("other")
    }
    #expect(parts.all.map(\.heldChanges) == [nil])
    #expect(try parts.all.first?.events.map(\.payload) == [payload, payload, payload])
  }

  @Test func `a reader that starts within a set receives the rest of its events`() throws {
    let before = try store.read { try $0.cursor }
    try store.write { users in
      try users.post("first")
      try users.rename(zoe, to: "x")
      try users.post("last")
    }
    let middle = try #require(try store.read { try $0.cursor(at: Revision(rawValue: before.revision.rawValue + 2)) })
    let rest = try #require(try store.allChanges(after: middle).first)
    #expect(try rest.isContinued && rest.entryLines == ["last"])
  }

  /// Random writes of changes and events, small and huge, in random topics: each reader has exactly its part, in order.
  @Test(arguments: 0..<2 * Repetitions.count) func `entries are those that were written, in order`(number: Int) throws {
    var random = SplitMix64(seed: Seed.base &+ UInt64(number))
    let start = try store.read { try $0.cursor }
    let topics: [Topic] = [.everything, .event("a"), .event("b"), .user(zoe), .attribute(.name)]
    let received = topics.map { _ in Recorder<String>() }
    for (topic, recorder) in zip(topics, received) {
      store.listeners.bind("x", to: topic) { set in for line in try set.entryLines { recorder.record(line) } }
    }
    var written: [(line: String, topics: [Topic])] = []
    for write in 0..<6 {
      try store.write { users in
        for step in 0..<(random.next() % 4 == 0 ? 1_200 : Int(random.next() % 5)) {
          let text = "\(write)-\(step)"
          switch random.next() % 4 {
          case 0:
            try users.post("a", .text(text))
            written.append(("a \(text)", [.everything, .event("a")]))
          case 1:
            try users.post("b", .text(text), about: zoe)
            written.append(("b \(text)", [.everything, .event("b"), .user(zoe)]))
          default:
            try users.rename(zoe, to: text)
            written.append((text, [.everything, .user(zoe), .attribute(.name)]))
          }
        }
      }
    }
    for (topic, recorder) in zip(topics, received) {
      let expected = written.filter { $0.topics.contains(topic) }.map(\.line)
      #expect(recorder.all == expected, "seed \(Seed.base &+ UInt64(number)), \(topic)")
      let read = try store.page(of: topic, after: start)
      #expect(read == expected, "seed \(Seed.base &+ UInt64(number)), \(topic), read")
    }
  }
}

extension UserStore {
  /// The lines of a topic after a cursor.
  fileprivate func page(of topic: Topic, after start: Cursor) throws -> [String] {
    var (position, lines) = (start, [String]())
    while true {
      let page = try reader.page(of: [topic], after: position)
      for set in page.sets { lines += try set.entryLines }
      if page.position == position { return lines }
      position = page.position
    }
  }
}

extension ChangeSet {
  /// The new value of each change, and the name and the payload of each event.
  var entryLines: [String] {
    get throws {
      try entries.map { entry in
        switch entry {
        case .change(let change): change.new.text
        case .event(let event): event.payload.isNull ? event.name : "\(event.name) \(event.payload.text)"
        }
      }
    }
  }
}

extension StoredValue {
  fileprivate var text: String {
    switch self {
    case .text(let text): text
    case .integer(let integer): "\(integer)"
    default: "\(self)"
    }
  }
}
