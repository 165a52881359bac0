import Foundation
import TestSupport
import Testing

/// Standard descriptors of which a read or a write fails with EAGAIN instead of waiting, as ssh and Node leave them.
@Suite(.bounded, .serialized) struct `Descriptors that do not wait` {
  /// Runs a command with pipes of one page, and does each next step only when the tool can do nothing without it.
  private static let program = """
    import fcntl, json, os, select, struct, subprocess, sys, termios, time
    setup = json.loads(sys.argv[1])
    (inner, source), (output, outer), (errors, other) = os.pipe(), os.pipe(), os.pipe()
    for end in inner, outer, other:
      fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096)
      os.set_blocking(end, setup["waits"])
    tool = subprocess.Popen(setup["command"], stdin=inner, stdout=outer, stderr=other)
    for end in inner, outer, other: os.close(end)
    def waiting(end): return struct.unpack("i", fcntl.ioctl(end, termios.FIONREAD, b"\\0" * 4))[0]
    def rests():
      # Not running: a thread that tries again and again would be.
      state = open("/proc/%d/stat" % tool.pid).read().rpartition(")")[2].split()[0]
      return state in "SZ"
    end = time.monotonic() + 60
    def settle():
      calm = 0
      while calm < 20:
        if tool.poll() is not None: return
        calm = calm + 1 if rests() else 0
        if time.monotonic() > end: tool.kill(); sys.exit("the tool neither waits nor ends")
        time.sleep(0.001)
    seen = {output: b"", errors: b""}
    settle()
    for piece in setup["pieces"]:
      if tool.poll() is None:
        try: os.write(source, piece.encode())
        except BrokenPipeError: pass
      settle()
    os.close(source)
    settle()
    # What is printed is read a page at a time, always when no more fits.
    open_ends = [output, errors]
    while open_ends:
      for ready in select.select(open_ends, [], [])[0]:
        bytes = os.read(ready, 4096)
        seen[ready] += bytes
        if not bytes: open_ends.remove(ready)
      settle()
    print(json.dumps({"status": tool.wait(), "output": seen[output].decode(), "errors": seen[errors].decode()}))
    """

  private struct Result: Decodable, Equatable {
    let status: Int32
    let output: String
    let errors: String
  }

  private func result(_ words: [String], pieces: [String] = [], waits: Bool, in workspace: Workspace) throws -> Result {
    let setup: [String: Any] = ["command": [Workspace.tool] + words, "pieces": pieces, "waits": waits]
    let text = String(decoding: try JSONSerialization.data(withJSONObject: setup), as: UTF8.self)
    let outcome = try workspace.finish([Child.python, "-c", Self.program, text])
    try #require(outcome.status == 0, "\(words): \(outcome)")
    return try JSONDecoder().decode(Result.self, from: Data(outcome.output.utf8))
  }

  /// What a line prints, without the times of the current state, and that of a connection that failed, which curl tells.
  private func comparable(_ result: Result) -> Result {
    Result(
      status: result.status, output: result.output.replacing(/"at":"[^"]*"/, with: ""),
      errors: result.errors.replacing(/after \d+ ms/, with: ""))
  }

  @Test func `every command prints the same as to descriptors that wait`() throws {
    let workspace = try EveryCommand.makeWorkspace()
    // More than a pipe of one page takes, on each of the descriptors.
    let note = String(repeating: "x", count: 300)
    for _ in 1...21 { try workspace.run("add", "many", "--set", "note=\(note)") }
    // What a command prints before its timeout differs from run to run.
    let lines = EveryCommand.lines.filter { !$0.words.contains("--timeout") }
    for line in lines + [.init("get many", 3)] {
      let words = EveryCommand.words(line, in: workspace)
      let results = try [true, false].map { try comparable(result(words, waits: $0, in: workspace)) }
      #expect(results[0].status == line.status, "\(line): \(results[0])")
      #expect(results[0] == results[1], "\(line)")
    }
  }

  @Test(arguments: [
    ("jsonl", ["", "{\"name\":\"A\"}\n{\"na", "me\":\"B\"}\n", "{\"name\":\"C\"}"]),
    ("csv", ["name,age\n", "A,1\nB", ",2\nC,3\n"]),
  ]) func `an import waits for input that comes in pieces`(format: String, pieces: [String]) throws {
    for waits in [true, false] {
      let workspace = try Workspace()
      let result = try result(["import", "-", "--format", format], pieces: pieces, waits: waits, in: workspace)
      #expect(result.status == 0, "\(result)")
      #expect(try workspace.run("list", "--count").output == "3\n")
    }
  }

  @Test(arguments: ["y\n", "yes\n", "Y\n", "n\n", "\n", "yes please\n"])
  func `every question waits for its answer`(answer: String) throws {
    let isYes = ["y\n", "yes\n", "Y\n"].contains(answer)
    for command in ["remove 1", "purge 2", "consumers remove sync", "restore u.db"] {
      for waits in [true, false] {
        let workspace = try EveryCommand.makeWorkspace()
        let session = try TerminalSession(
          EveryCommand.words(.init(command), in: workspace), columns: 80, rows: 24, in: workspace, waits: waits,
          [.wait(for: "[y/N] "), .type(answer)])
        let output = String(decoding: session.output, as: UTF8.self)
        #expect(session.status == (isYes ? 0 : 1), "\(command) \(waits): \(output)")
        #expect(isYes != output.contains("usertool: error: nothing was"), "\(command) \(waits): \(output)")
      }
    }
  }

  @Test func `a followed list is drawn on a terminal that does not wait`() throws {
    let workspace = try EveryCommand.makeWorkspace()
    let session = try TerminalSession(
      ["list", "--follow"], columns: 60, rows: 12, in: workspace, waits: false,
      [
        .wait(for: "2 users"), .run([Workspace.tool, "set", "1", "age=7", "-q"]), .wait(for: "2 users"), .type("\u{3}"),
      ])
    #expect(session.status == 130)
  }
}
