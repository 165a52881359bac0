import Foundation
import TestSupport
import Testing

/// Servers that do not answer, and readers that are slower than a server allows; only in `scripts/postgres run`.
@Suite(.bounded, .serialized, .enabled(if: Workspace.server != nil, "there is no server"))
struct `Trouble with a server` {
  private let workspace: Workspace

  init() throws { workspace = try Workspace() }

  /// Makes every COMMIT of an update wait for ten minutes.
  private func delayCommits() throws {
    try workspace.psql(
      """
      CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER delay AFTER UPDATE ON userstore.users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        EXECUTE FUNCTION delay();
      """)
  }

  /// Waits until a query about the server's processes for this database returns `t`.
  private func wait(for condition: String) throws {
    let sql = """
      SELECT \(condition) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      """
    while try workspace.psql(sql) != "t" {}
  }

  @Test func `an argument that is not valid UTF-8 is rejected, not repaired`() throws {
    try workspace.run("init")
    let outcome = try workspace.finish(
      ["/bin/sh", "-c", "exec \(Workspace.tool) add \"$(printf 'a\\377')\" --db \(workspace.database)"])
    #expect(outcome.status == 65 && outcome.errors.contains("argument 2 is not valid UTF-8"), "\(outcome)")
    #expect(try workspace.run("list").output.isEmpty)
  }

  @Test func `a purge with a vacuum is refused before it erases anything`() throws {
    try workspace.run("add", "NIX")
    try workspace.run("remove", "1", "--yes")
    let log = try workspace.run("log").output
    let outcome = try workspace.run("purge", "1", "--yes", "--vacuum")
    #expect(outcome.status == 1 && outcome.errors.contains("use VACUUM FULL"), "\(outcome)")
    #expect(try workspace.run("log").output == log)
  }

  @Test func `a list is whole although its reader pauses`() throws {
    try workspace.run("init")
    try workspace.psql("INSERT INTO userstore.users (name) SELECT repeat('x', 100) FROM generate_series(1, 20000)")
    let list = try workspace.start("list", "--format", "plain")
    // The pipe is full now; the server would end a transaction that pauses.
    #expect(list.output.wait(for: "x"))
    try wait(for: "count(*) = 0")
    #expect(list.output.restOfLines().count == 20_000)
    #expect(list.wait() == 0)
  }

  @Test func `a signal ends a command whose server does not answer`() throws {
    // Accepts connections, and never answers. Each address would take ten seconds.
    let server = try workspace.start([
      Child.python, "-c",
      """
      import socket
      listener = socket.create_server(("127.0.0.1", 0), backlog=100)
      print(listener.getsockname()[1], flush=True)
      kept = [listener.accept()]
      print("connected", flush=True)
      while True: kept.append(listener.accept())
      """,
    ])
    let port = try #require(server.output.next())
    let hosts = Array(repeating: "127.0.0.1:\(port)", count: 100).joined(separator: ",")
    let command = try workspace.start("list", "--db", "postgres://x@\(hosts)/x?sslmode=disable")
    #expect(server.output.next() == "connected")
    command.send(SIGINT)
    #expect(command.wait() == 130)
    #expect(command.errors.rest().isEmpty)
  }

  /// Forwards connections to the server until one sends `text`: that one is acknowledged everything, and answered nothing.
  private func startProxy(silentAfter text: String) throws -> Child {
    try workspace.start([
      Child.python, "-c",
      """
      import os, select, socket, sys, threading
      def forward(client):
          server = socket.socket(socket.AF_UNIX)
          server.connect(f"{os.environ['PGHOST']}/.s.PGSQL.{os.environ['PGPORT']}")
          other, is_silent = {client: server, server: client}, False
          while True:
              for end in select.select(list(other), [], [])[0]:
                  data = end.recv(1 << 16)
                  if not data and not is_silent: return
                  # The end of a connection is not delivered either.
                  if not data: del other[end]
                  is_silent = is_silent or sys.argv[1].encode() in data
                  if not is_silent: other[end].sendall(data)
      listener = socket.create_server(("127.0.0.1", 0))
      print(listener.getsockname()[1], flush=True)
      while True: threading.Thread(target=forward, args=[listener.accept()[0]], daemon=True).start()
      """, text,
    ])
  }

  @Test(arguments: [("begin_writing", ["rename", "1", "Zoë"]), ("userstore_scan", ["list"])])
  func `a command whose connection is not answered any more ends, and says why`(
    _ text: String, _ arguments: [String]
  ) throws {
    try workspace.run("add", "NIX")
    let proxy = try startProxy(silentAfter: text)
    let port = try #require(proxy.output.next())
    let name = workspace.database.dropFirst("postgres:///".count)
    let address = "postgres://postgres@127.0.0.1:\(port)/\(name)?sslmode=disable&gssencmode=disable"
    let outcome = try workspace.finish([Workspace.tool] + arguments + ["--db", address])
    #expect(outcome.status == 1 && outcome.errors.contains("the server did not answer in time"), "\(outcome)")
    #expect(try workspace.run("get", "1", "name").output == "NIX\n")
    proxy.send(SIGKILL)
  }

  @Test func `a signal during a COMMIT says that the change may have been written`() throws {
    try workspace.run("add", "NIX")
    try delayCommits()
    let rename = try workspace.start("rename", "1", "Zoe")
    try wait(for: "bool_or(wait_event = 'PgSleep' AND query = 'COMMIT')")
    rename.send(SIGTERM)
    #expect(rename.wait() == 143)
    let errors = String(decoding: rename.errors.rest(), as: UTF8.self)
    #expect(errors.contains("hint: read the record again: the change may or may not have been written"), "\(errors)")
  }
}
