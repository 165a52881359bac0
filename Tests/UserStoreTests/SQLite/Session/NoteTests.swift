import TestSupport
import Testing

@testable import UserStore

/// Notes that other programs insert into the log of a file, and what a purge leaves of them.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct NoteTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.retention = .unlimited }
    zoe = try store.write { try $0.add(name: "Zoë") }
  }

  @Test func `an event of another program is delivered with its changes`() throws {
    let received = Recorder<ChangeSet>()
    store.listeners.bind("all", to: .everything) { received.record($0) }
    try folder.shell(
      """
      BEGIN;
      UPDATE users SET name = 'x' WHERE id = \(zoe);
      INSERT INTO changes (op, user, old, new) VALUES (6, \(zoe), 'invited', '{"by":2}');
      COMMIT
      """)
    received.wait(for: 1)
    let set = received.all[0]
    #expect(set.isForeign && set.lines == ["updated 1 name 'Zoë' 'x'"])
    #expect(try set.events.map(\.name) == ["invited"] && set.events[0].user == zoe)
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  @Test(arguments: [
    "(4, 1, 'name', 'Zoë', 'Zoë')", "(5, 1, NULL, NULL, NULL)", "(6, 1, NULL, x'00', 1)", "(6, NULL, NULL, NULL, NULL)",
    "(7, 1, NULL, 'pulled', 2)", "(99, NULL, 'name', 'a', 'b')", "(9223372036854775807, 1, 'name', 'Zoë', 'trap')",
  ])
  func `a note that is not for delivery is skipped, and counts for positions`(_ row: String) throws {
    let name = try store.listenable(.name, of: zoe)
    let calls = Recorder<Cursor>()
    store.listeners.bind("all", to: .everything) { calls.record($0.cursor) }
    let before = try store.read { try $0.cursor }
    try folder.shell("INSERT INTO changes (op, user, attribute, old, new) VALUES \(row)")
    // The next write finds it, or the watcher did.
    try store.write { try $0.rename(zoe, to: "x") }
    let end = try store.read { try $0.cursor }
    #expect(calls.all == [end] && name.value == "x")
    #expect(end.revision.rawValue == before.revision.rawValue + 3)
    #expect(try store.page(after: before).flatMap(\.lines) == ["updated 1 name 'Zoë' 'x'"])
    // A log that begins after the note: nobody was left behind it.
    try store.compact(keeping: .rows(1))
    try store.write { try $0.rename(zoe, to: "y") }
    #expect(calls.count == 2 && name.value == "y")
  }

  @Test(arguments: [
    ("(4, 1, 'name', 'a', 'a')", false), ("(5, 1, NULL, NULL, NULL)", false), ("(6, NULL, NULL, 'x', NULL)", false),
    ("(4, 1, NULL, 'a', 'a')", true), ("(5, NULL, NULL, NULL, NULL)", true), ("(6, 1, 'name', 'x', NULL)", true),
    ("(6, 1, NULL, 7, NULL)", true), ("(7, 1, NULL, NULL, NULL)", true), ("(7, NULL, NULL, NULL, NULL)", false),
    ("(8, NULL, NULL, NULL, NULL)", false), ("(8, NULL, NULL, 7, NULL)", true), ("(9, NULL, NULL, 7, NULL)", false),
    ("(9, NULL, NULL, NULL, NULL)", true), ("(9, 1, NULL, 7, NULL)", true), ("(-1, 1, 'name', NULL, NULL)", true),
  ])
  func `a check knows the shape of each note`(_ row: String, _ isProblem: Bool) throws {
    try folder.shell("INSERT INTO changes (op, user, attribute, old, new) VALUES \(row)")
    #expect(try store.check().contains { $0.kind == .log } == isProblem)
  }

  @Test func `pages that have only notes end no reading of the log`() throws {
    let before = try store.read { try $0.cursor }
    for _ in 0..<600 { try store.write { try $0.session.append(.purged(User.ID(99))) } }
    try store.write { try $0.rename(zoe, to: "x") }
    #expect(try store.allChanges(after: before).flatMap(\.lines) == ["updated 1 name 'Zoë' 'x'"])
  }

  @Test func `undo skips notes of other programs`() throws {
    try folder.shell("INSERT INTO changes (op, user, attribute, old, new) VALUES (4, 1, 'name', 'Zoë', 'Zoë')")
    try store.write { try $0.undo() }
    #expect(try store.read { try $0.count() } == 0)
  }

  @Test func `a purge removes the payloads about its user, keeps the names, and is noted`() throws {
    try store.write { users in
      try users.post("secret-kept", .text("payload-gone"), about: zoe)
      try users.post("other", .text("stays"))
    }
    try folder.shell("INSERT INTO changes (op, user, attribute, old, new) VALUES (4, \(zoe), 'name', 'Zoë', 'Zoë')")
    try store.write { try $0.remove(zoe) }
    let calls = Recorder<Int>()
    store.listeners.bind("all", to: .everything) { _ in calls.record(1) }
    let size = try folder.shell("SELECT measured, bytes FROM meta")
    let purge = try store.purge(zoe)
    #expect(
      try folder.shell("SELECT op, old, new FROM changes WHERE op > 3") == "6|secret-kept|\n6|other|stays\n4||\n5||\n")
    #expect(calls.count == 0 && size != "")
    let events = try store.allChanges().flatMap { try $0.events }
    #expect(events.map(\.payload) == [.null, .text("stays")])
    let again = try store.purge(zoe)
    #expect(again.found == purge.found && again.blanked == 0)
    #expect(try folder.shell("SELECT user FROM changes WHERE op = 5") == "\(zoe)\n")
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  @Test func `a process that was open before the migration goes on`() throws {
    let old = try Folder()
    try old.makeOld(5, "INSERT INTO users (name) VALUES ('NIX')")
    // Its connection: what an older library does with the file.
    let connection = try PlainConnection(old.database)
    try connection.script("SELECT * FROM users")
    let store = try old.open()
    let received = Recorder<[String]>()
    store.listeners.bind("all", to: .everything) { received.record($0.lines) }
    try connection.script("UPDATE users SET name = 'Zoë'")
    received.wait(for: 1)
    #expect(received.all == [["updated 1 name 'NIX' 'Zoë'"]])
    try store.write { try $0.post("event", .text("x"), about: User.ID(1)) }
    #expect(try connection.log(after: connection.position() - 2).first == "6 1 NULL 'event' 'x'")
  }
}
