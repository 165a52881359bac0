import Foundation
import TestSupport
import Testing
import UserStore
import UserStoreSync

/// A replica that is written to without the network, and `sync`, which shows and decides what its server has not.
///
/// `Server/Tests/Outside/Streams/test_offline_writes.py` has `follow --write` with a server.
@Suite(.bounded, .serialized) struct `Writes on a replica` {
  private let workspace: Workspace
  private let server: UserStore

  init() async throws {
    workspace = try Workspace()
    workspace.database = workspace.folder + "/copy.db"
    server = try UserStore(path: workspace.folder + "/server.db")
    _ = try await server.write { try $0.add([(.name, .text("NIX")), ("age", .integer(7))]) }
    try await follow()
  }

  /// Brings the replica up to date, as `follow --once --write` does.
  private func follow(_ users: UserStoreSync.Replica.Users = .all) async throws {
    let store = try UserStore(path: workspace.database)
    let transport = DirectTransport(to: try SyncService(server), address: "https://users.example.com")
    try await UserStoreSync.Replica(of: store, from: transport, users: users, writes: .queued).catchUp()
    await store.close()
  }

  /// Lets the server refuse the undoing of a write here, because the value has changed there; returns the revision.
  private func refuse() async throws -> String {
    try workspace.run("set", "1", "age=8")
    try await follow()
    try await server.write { try $0.set("age", of: User.ID(1), to: .integer(70)) }
    try #require(try workspace.run("undo").status == 0)
    try await follow()
    let line = try #require(try workspace.run("sync", "refusals").lines.first)
    return String(line.prefix { $0 != "\t" })
  }

  @Test func `a user who was added here is addressed by the negative id, as it is printed`() async throws {
    let id = try workspace.run("add", "Zoë", "--set", "age=5").lines[0]
    #expect(id.hasPrefix("-") && Int64(id) != nil)
    for (line, output) in [
      (["get", id, "name"], "Zoë\n"), (["rename", id, "Zoe"], nil), (["set", id, "age=6"], nil),
      (["set", "--unset", "age", id], nil), (["undo"], nil), (["post", "seen", "--about", id], nil),
      (["log", id, "--limit", "1"], nil),
      (["listeners", id], nil), (["list", "--where", "id=\(id)", "--format", "plain"], "\(id)\tZoe\t\tage=6\n"),
      (["list", "--where", "id<0", "--count"], "1\n"),
    ] {
      let outcome = try workspace.finish([Workspace.tool] + line)
      #expect(outcome.status == 0 && (output == nil || outcome.output == output), "\(line): \(outcome)")
    }
    try workspace.sqlite("UPDATE users SET name = 'of another program' WHERE id = \(id)")
    #expect(try workspace.run("remove", "1", "--yes").status == 0)
    #expect(try workspace.run("sync", "--format", "json").output.contains(#""pending":8,"#))
    try await follow()
    #expect(try await server.users().map { "\($0.id) \(try $0.name)" } == ["\(id) of another program"])
    #expect(try workspace.run("remove", id, "--yes").status == 0)
    #expect(try workspace.run("purge", id, "--yes").errors.contains("not yet decided"))
  }

  @Test func `a subset can name a negative id`() async throws {
    let outcome = try workspace.run("follow", "http://127.0.0.1:9", "--users", "-5,1", "--timeout", "1ms")
    #expect(outcome.status == 124, "\(outcome)")
    #expect(try workspace.run("sync", "--format", "json").output.contains(#""users":2,"#))
  }

  @Test func `the status is a record, for people without what is empty`() async throws {
    let cursor = try await server.read { try $0.cursor.description }
    #expect(
      try workspace.run("sync", "status", "--format", "jsonl").lines == [
        #"{"server":"https://users.example.com","subject":"","users":null,"writes":"queued","state":"following","#
          + #""pending":0,"since":null,"refusals":0,"cursor":"\#(cursor)"}"#
      ])
    let wide = try TerminalBatch.results(
      of: [.init(arguments: ["sync", "--color", "never"], columns: 200, environment: ["TZ": "EST5"])], in: workspace)[0]
    #expect(
      wide.lines.map { $0.split(separator: " ").joined(separator: " ") } == [
        "SERVER USERS WRITES STATE PENDING REFUSALS CURSOR",
        "https://users.example.com all queued following 0 0 \(cursor)",
      ], "\(wide)")
    try workspace.run("set", "1", "age=8")
    try workspace.sqlite(
      "UPDATE changes SET at = 1795238411482; UPDATE userstore_replica SET subject = 'ann', users = '1,7', cursor = NULL"
    )
    #expect(
      try workspace.run("sync", "status", "--format", "csv").lines == [
        "server,subject,users,writes,state,pending,since,refusals,cursor",
        "https://users.example.com,ann,2,queued,copying,1,2026-11-21T05:20:11.482Z,0,",
      ])
    let narrow = try TerminalBatch.results(
      of: [.init(arguments: ["sync", "--color", "never"], columns: 40, environment: ["TZ": "EST5"])], in: workspace)[0]
    #expect(
      narrow.lines == [
        "SERVER    https://users.example.com", "SUBJECT   ann", "USERS     2", "WRITES    queued", "STATE     copying",
        "PENDING   1", "SINCE     2026-11-21 00:20:11", "REFUSALS  0",
      ], "\(narrow)")
  }

  @Test func `a refusal has its reason and its changes until it is acknowledged`() async throws {
    let revision = try await refuse()
    let status = try workspace.run("sync", "--format", "json")
    #expect(status.output.contains(#""refusals":1"#), "\(status)")
    #expect(status.errors.contains("usertool sync refusals shows"), "\(status)")
    let text = try workspace.run("sync", "refusals").lines
    #expect(text.count == 1 && text[0].hasPrefix("\(revision)\tconflict\t"), "\(text)")
    #expect(text[0].contains("70") && text[0].hasSuffix("\tuser 1  age 8 → 7"), "\(text)")
    let json = try workspace.run("sync", "refusals", "--format", "jsonl").lines
    let start = #"{"revision":\#(revision),"reason":"conflict","detail":""#
    #expect(json.count == 1 && json[0].hasPrefix(start), "\(json)")
    let change = #""changes":[{"op":"update","user":1,"attribute":"age","old":8,"new":7,"at":""#
    #expect(json[0].contains(change), "\(json)")
    #expect(try workspace.run("sync", "refusals", "--format", "csv").lines[0] == "revision,reason,detail,changes")
    let database = workspace.database
    let unknown = try workspace.run("sync", "acknowledge", revision, "99", "--db", database)
    #expect(unknown.status == 3 && unknown.errors.contains("nothing is refused at revision 99"), "\(unknown)")
    #expect(unknown.errors.contains("usertool sync --db \(database) refusals"), "\(unknown)")
    let dry = try workspace.run("sync", "acknowledge", "--all", "--dry-run")
    #expect(dry.status == 0 && dry.errors == "dry run: would acknowledge 1 refusal\n", "\(dry)")
    #expect(try workspace.run("sync", "acknowledge", revision).errors == "acknowledged 1 refusal\n")
    let none = try workspace.run("sync", "refusals", "--format", "json")
    #expect(none.output == "[]\n" && none.errors == "nothing is refused\n", "\(none)")
    #expect(try workspace.run("sync", "acknowledge", "--all").errors == "unchanged: nothing is refused\n")
  }

  @Test func `of a large refusal, text shows the first changes, and JSON all`() async throws {
    try workspace.sqlite(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
      INSERT INTO attributes SELECT 1, 'a' || i, 'x' FROM n;
      INSERT INTO userstore_refusals SELECT max(seq), max(seq) - 29, 1, 'forbidden', NULL FROM changes
      """)
    let text = try workspace.run("sync", "refusals").output
    #expect(text.contains("\tforbidden\t\tuser 1  a1 (none) → \"x\", ") && text.hasSuffix("; and 10 more\n"), "\(text)")
    let json = try workspace.run("sync", "refusals", "--format", "json").output
    #expect(json.components(separatedBy: #""op":"update""#).count == 31, "\(json)")
  }

  @Test func `discarding asks on a terminal, and makes the server's values visible`() async throws {
    for age in [8, 9] { try workspace.run("set", "1", "age=\(age)") }
    let refused = try workspace.run("sync", "discard")
    #expect(refused.status == 64 && refused.errors.contains("confirm with --yes"), "\(refused)")
    #expect(
      try workspace.run("sync", "discard", "--dry-run").errors == "dry run: would give up 2 writes\n")
    let asked = try TerminalBatch.results(
      of: [.init(arguments: ["sync", "discard"], typed: "n\n")], in: workspace)[0]
    #expect(asked.status == 1 && asked.output.contains("Give up 2 writes that the server has not decided? [y/N]"))
    #expect(try workspace.run("get", "1", "age").output == "9\n")
    let answered = try TerminalBatch.results(
      of: [.init(arguments: ["sync", "discard"], typed: "y\n")], in: workspace)[0]
    #expect(answered.status == 0 && answered.output.contains("gave up 2 writes"), "\(answered)")
    #expect(try workspace.run("get", "1", "age").output == "7\n")
    #expect(try workspace.run("sync", "discard", "--yes").errors == "unchanged: there is nothing to send\n")
  }

  @Test func `a file that lacks what is to be sent is repaired by discarding`() async throws {
    try workspace.run("set", "1", "age=8")
    try workspace.sqlite("UPDATE userstore_replica SET seen_nonce = seen_nonce + 1")
    let database = workspace.database
    let follow = try workspace.run("follow", "http://127.0.0.1:9", "--db", database, "--write")
    #expect(follow.status == 65 && follow.errors.contains("lacks changes that are to be sent"), "\(follow)")
    #expect(follow.errors.contains("hint: usertool sync --db \(database) discard gives up"), "\(follow)")
    #expect(try workspace.run("sync", "acknowledge", "--all").status == 0)
    #expect(try workspace.run("sync", "discard", "--yes").errors == "gave up 1 write\n")
    try await self.follow()
    #expect(try workspace.run("get", "1", "age").output == "7\n")
  }

  @Test func `another file is no replica, and one of an earlier version has to follow first`() throws {
    let folder = workspace.folder
    for action in [["status"], ["refusals"], ["acknowledge", "--all"], ["discard", "--yes"]] {
      let outcome = try workspace.finish([Workspace.tool, "sync"] + action + ["--db", folder + "/server.db"])
      #expect(outcome.status == 65 && outcome.errors.contains("server.db is no replica"), "\(outcome)")
      #expect(outcome.errors.contains("usertool follow --db \(folder)/server.db makes"), "\(outcome)")
    }
    let golden = Workspace.project.appendingPathComponent("Tests/Golden/layout8-replica.db")
    try workspace.write(try Data(contentsOf: golden), to: "old.db")
    for action in [["status"], ["refusals"], ["acknowledge", "--all"], ["discard", "--yes"]] {
      let outcome = try workspace.finish([Workspace.tool, "sync"] + action + ["--db", folder + "/old.db"])
      #expect(outcome.status == 65 && outcome.errors.contains("of an earlier version"), "\(outcome)")
      #expect(outcome.errors.contains("hint: follow the server once with this version"), "\(outcome)")
    }
    let missing = try workspace.run("sync", "--db", folder + "/none.db")
    #expect(missing.status == 66, "\(missing)")
  }

  @Test(arguments: [
    ["acknowledge"], ["acknowledge", "1", "--all"], ["status", "1"], ["discard", "--all"], ["status", "--yes"],
    ["refusals", "--dry-run"], ["acknowledge", "x"],
  ])
  func `an invalid command line is a usage error with a hint`(arguments: [String]) throws {
    let outcome = try workspace.finish([Workspace.tool, "sync"] + arguments)
    #expect(outcome.status == 64 && outcome.errors.contains("usertool sync --help"), "\(outcome)")
  }

  @Test func `a mistyped action is corrected`() throws {
    let outcome = try workspace.run("sync", "refusal")
    #expect(outcome.status == 64 && outcome.errors.contains("did you mean: usertool sync refusals"), "\(outcome)")
  }

  @Test func `what a server has said does not act on a terminal`() async throws {
    _ = try await refuse()
    let hostile = "char(27) || '[2J' || char(7) || char(155) || '31m' || char(8238) || 'evil' || char(10) || 'x'"
    try workspace.sqlite(
      "UPDATE userstore_refusals SET detail = \(hostile); UPDATE userstore_replica SET address = \(hostile), "
        + "subject = \(hostile)")
    let lines = ["status", "refusals"].flatMap { action in
      ["table", "plain", "json", "jsonl", "csv"].map { ["sync", action, "--format", $0] }
    }
    let runs = (lines + [["follow", "http://127.0.0.1:9", "--timeout", "1s"]]).map {
      TerminalBatch.Run(arguments: $0 + ["--color", "never"], columns: 300)
    }
    for (run, result) in zip(runs, try TerminalBatch.results(of: runs, in: workspace)) {
      #expect(result.status == (run.arguments[0] == "follow" ? 124 : 0), "\(result)")
      // follow clears its own line.
      let output = result.output.replacing("\u{1B}[K", with: "")
      let acting = output.unicodeScalars.filter {
        $0.value < 0x20 && !["\n", "\r", "\t"].contains($0) || (0x7F..<0xA0).contains($0.value) || $0 == "\u{202E}"
      }
      #expect(acting.isEmpty && output.contains("evil"), "\(run.arguments): \(result)")
    }
    // An unknown reason is one that a later server may have.
    try workspace.sqlite("UPDATE userstore_refusals SET reason = \(hostile)")
    #expect(try workspace.run("sync", "refusals").output.contains("\tinvalid\t"))
  }

  // MARK: Following

  @Test func `in a pipe, each state says how much is to be sent, and a refusal is a line`() async throws {
    let revision = try await refuse()
    let child = try workspace.start("follow", "http://127.0.0.1:9", "--write")
    func line(with text: String) throws -> String {
      while true {
        let line = try #require(child.output.next())
        if line.contains(text) { return line }
      }
    }
    let start = #"{"refused":{"revision":\#(revision),"reason":"conflict","detail":""#
    #expect(try line(with: #""refused":"#).hasPrefix(start))
    #expect(try line(with: #""state":"waiting""#).hasSuffix(#","pending":0}"#))
    try workspace.run("set", "1", "age=9")
    _ = try line(with: #","pending":1}"#)
    child.send(SIGINT)
    _ = child.output.rest()
    #expect(child.wait() == 130)
    // Without --write, the lines are as they were.
    let reading = try workspace.firstLines(2, "follow", "http://127.0.0.1:9")
    #expect(!reading.output.contains("pending"), "\(reading)")
    #expect(try workspace.run("set", "1", "age=10").errors.contains("the store is a replica"))
    let status = try workspace.run("sync", "--format", "json").output
    #expect(status.contains(#""writes":"none","state":"following","pending":1,"#), "\(status)")
  }

  @Test func `on a terminal, the line says how much is to be sent, and a refusal is a message`() async throws {
    let revision = try await refuse()
    let session = try TerminalSession(
      ["follow", "http://127.0.0.1:9", "--write", "--db", workspace.database], columns: 200, rows: 24, in: workspace,
      [
        .wait(for: "refused: conflict, "), .wait(for: "waiting: "),
        .run([Workspace.tool, "set", "1", "age=9"]), .wait(for: "; 1 to send"), .signal(SIGINT),
      ])
    let output = String(decoding: session.output, as: UTF8.self)
    let hint = "(revision \(revision); see usertool sync --db \(workspace.database) refusals)"
    #expect(output.contains(hint), "\(output)")
    #expect(session.status == 130)
  }
}
