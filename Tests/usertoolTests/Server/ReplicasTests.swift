import Foundation
import TestSupport
import Testing

/// `replicas`, which lists what a server says.
@Suite(.bounded, .serialized) struct `The replicas of a server` {
  private static let members = ["producer", "subject", "state", "behind", "at", "refusals", "users", "cursor"]

  /// Starts a server that gives the same answer to every request; returns it and its address.
  private func serve(_ body: String, status: Int = 200, in workspace: Workspace) throws -> (Child, address: String) {
    try Data(body.utf8).write(to: URL(filePath: workspace.folder + "/answer"))
    let server = try workspace.python(
      """
      import http.server
      class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
          body = open("\(workspace.folder)/answer", "rb").read()
          allowed = self.headers["Authorization"] in (None, "Bearer secret") and self.path == "/replicas"
          self.send_response(\(status) if allowed else 418)
          self.send_header("Content-Length", str(len(body)))
          self.end_headers()
          self.wfile.write(body)
        def log_message(self, *_): pass
      server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
      print(server.server_port, flush=True)
      server.serve_forever()
      """)
    let port = try #require(server.output.next())
    return (server, "http://127.0.0.1:\(port)")
  }

  private static let one =
    #"{"producer":"7","subject":"","state":"listening","behind":0,"at":"2026-11-23T05:20:11.482Z","refusals":0,"#
    + #""users":null,"cursor":"v1-1-2-3"}"#
  private static let other =
    #"{"producer":"9223372036854775807","subject":"Zoë","state":"copying","behind":null,"at":"2026-11-22T05:20:11.482Z","#
    + #""refusals":3,"users":2,"cursor":null}"#

  @Test func `in a pipe, each is a line of JSON, and on a terminal a row`() throws {
    let workspace = try Workspace()
    let (server, address) = try serve(#"{"replicas":[\#(Self.one),\#(Self.other)]}"#, in: workspace)
    try Data("secret\n".utf8).write(to: URL(filePath: workspace.folder + "/token"))
    let listed = try workspace.run("replicas", address, "--token-file", workspace.folder + "/token")
    #expect(listed.lines == [Self.one, Self.other])
    let table = try TerminalBatch.results(
      of: [.init(arguments: ["replicas", address, "--color", "never"], columns: 200, environment: ["TZ": "UTC"])],
      in: workspace)[0]
    #expect(table.status == 0)
    let words = table.lines.map { $0.split(separator: " ", omittingEmptySubsequences: true).map(String.init) }
    #expect(words.first?.map { $0.lowercased() } == Self.members, "\(table)")
    #expect(words.dropFirst().map { $0.first } == ["7", "9223372036854775807"], "\(table)")
    #expect(table.output.contains("2026-11-23 05:20:11"), "\(table)")
    let csv = try workspace.run("replicas", address, "--format", "csv")
    #expect(csv.lines.first == Self.members.joined(separator: ","))
    server.send(SIGKILL)
  }

  @Test func `what a server says does not act on a terminal`() throws {
    let workspace = try Workspace()
    let hostile = #"\u001b[2J\u0007\u009b31m\u202eevil\r\nx\t"#
    let replica = Self.one.replacing(#""subject":"""#, with: #""subject":"\#(hostile)""#)
      .replacing(#""cursor":"v1-1-2-3""#, with: #""cursor":"\#(hostile)""#)
      .replacing(#""at":"2026-11-23T05:20:11.482Z""#, with: #""at":"\#(hostile)""#)
      .replacing(#""state":"listening""#, with: #""state":"\#(hostile)","added":"\#(hostile)""#)
    let (server, address) = try serve(#"{"replicas":[\#(replica)]}"#, in: workspace)
    let runs = ["table", "plain", "json", "jsonl", "csv"].map {
      TerminalBatch.Run(arguments: ["replicas", address, "--format", $0, "--color", "never"])
    }
    for (run, result) in zip(runs, try TerminalBatch.results(of: runs, in: workspace)) {
      #expect(result.status == 0)
      let acting = result.output.unicodeScalars.filter {
        $0.value < 0x20 && !["\n", "\r", "\t"].contains($0) || (0x7F..<0xA0).contains($0.value) || $0 == "\u{202E}"
      }
      #expect(acting.isEmpty, "\(run.arguments): \(result)")
      #expect(result.output.contains("evil") && !result.output.contains("added"), "\(run.arguments): \(result)")
    }
    server.send(SIGKILL)
  }

  @Test(arguments: [
    (200, "x"), (200, "[]"), (200, "{}"), (200, #"{"replicas":[1]}"#), (200, #"{"replicas":[{"producer":"7"}]}"#),
    (200, #"{"replicas":[\#(one.replacing(#""behind":0"#, with: #""behind":[]"#))]}"#), (404, "{}"),
    (401, #"{"detail":"\u001b[2Jno"}"#), (400, #"{"detail":"no"}"#), (409, "{}"), (503, ""),
  ])
  func `another answer is a failure with its reason`(status: Int, body: String) throws {
    let workspace = try Workspace()
    let (server, address) = try serve(body, status: status, in: workspace)
    let outcome = try workspace.run("replicas", address)
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("usertool: error: \(address): "), "\(outcome)")
    #expect(!outcome.errors.contains("\u{1B}"), "\(outcome)")
    server.send(SIGKILL)
  }
}
