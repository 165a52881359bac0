import Foundation
import TestSupport
import Testing

/// Runs of the tool, each on a terminal of its own.
struct TerminalBatch {
  struct Run {
    var arguments: [String]
    var columns = 80
    var rows = 24
    /// What is typed before the tool reads anything.
    var typed = ""
    /// Whether a read or a write of the terminal waits; otherwise it fails with EAGAIN.
    var waits = true
    var environment: [String: String] = [:]
  }

  struct Result: Decodable, CustomStringConvertible {
    let status: Int32
    let output: String

    var lines: [String] { output.split(whereSeparator: \.isNewline).map(String.init) }
    var description: String { "exit \(status)\n\(output)" }
  }

  /// Runs the tool once for each, one after the other.
  static func results(of runs: [Run], in workspace: Workspace) throws -> [Result] {
    let program = """
      import fcntl, json, os, pty, select, struct, subprocess, sys, termios
      tool, runs, results = sys.argv[1], json.load(open(sys.argv[2])), []
      for run in runs:
        terminal, own = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", run["rows"], run["columns"], 0, 0))
        os.set_blocking(own, run["waits"])
        def take():
          os.setsid()
          fcntl.ioctl(own, termios.TIOCSCTTY, 0)
        process = subprocess.Popen([tool] + run["arguments"], stdin=own, stdout=own, stderr=own, preexec_fn=take,
          env={**os.environ, **run["environment"]})
        os.write(terminal, run["typed"].encode())
        output = b""
        # The own end stays open, so that nothing is lost when the tool ends.
        while process.poll() is None or select.select([terminal], [], [], 0)[0]:
          if select.select([terminal], [], [], 0.002)[0]: output += os.read(terminal, 65536)
        os.close(terminal)
        os.close(own)
        code = process.returncode
        results.append({"status": 128 - code if code < 0 else code, "output": output.decode(errors="replace")})
      print(json.dumps(results))
      """
    let list = runs.map { run -> [String: Any] in
      [
        "arguments": run.arguments, "columns": run.columns, "rows": run.rows, "typed": run.typed, "waits": run.waits,
        "environment": run.environment,
      ]
    }
    // Not an argument, which could be too long.
    try workspace.write(try JSONSerialization.data(withJSONObject: list), to: "runs.json")
    // A crash is a status; its backtrace would take seconds.
    let outcome = try workspace.finish(
      [Child.python, "-c", program, Workspace.tool, workspace.folder + "/runs.json"],
      ["TERM": "xterm", "SWIFT_BACKTRACE": "enable=no"])
    try #require(outcome.status == 0, "\(outcome)")
    return try JSONDecoder().decode([Result].self, from: Data(outcome.output.utf8))
  }
}
