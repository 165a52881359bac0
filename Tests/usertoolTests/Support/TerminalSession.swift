import Foundation
import TestSupport
import Testing

/// The tool on a terminal of its own, driven step by step.
struct TerminalSession {
  enum Action {
    /// Waits until this text has been written since the last action that waited, and after it the other one.
    case wait(for: String, then: String = "")
    /// Runs a command beside the tool, to its end.
    case run([String])
    case resize(columns: Int, rows: Int)
    case type(String)
    case signal(Int32)
  }

  /// What the tool wrote.
  let output: [UInt8]
  /// What was written when the last action began.
  let outputBeforeLast: [UInt8]
  /// The exit code.
  let status: Int32
  /// Whether the terminal shows what is typed, as it did before.
  let showsTyping: Bool
  /// What was typed and not read.
  let unread: String

  /// Runs the tool until it ends, which the last action must bring about; a redirection is that of a shell.
  ///
  /// Without `waits`, a read or a write of the terminal fails with EAGAIN instead of waiting.
  init(
    _ arguments: [String], redirection: String = "", columns: Int, rows: Int, in workspace: Workspace,
    environment: [String: String] = [:], waits: Bool = true, _ actions: [Action]
  ) throws {
    // The gates: the next action follows only when the text has arrived.
    let program = """
      import fcntl, json, os, pty, select, signal, struct, subprocess, sys, termios, time
      setup = json.loads(sys.argv[1])
      def resize(columns, rows): fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
      # The terminal stays open after the tool has ended, to look at its modes and its input.
      terminal, own = pty.openpty()
      resize(setup["columns"], setup["rows"])
      os.set_blocking(own, setup["waits"])
      def take():
        os.setsid()
        fcntl.ioctl(own, termios.TIOCSCTTY, 0)
      tool = subprocess.Popen(setup["command"], stdin=own, stdout=own, stderr=own, preexec_fn=take)
      seen, waited, before = b"", 0, 0
      def read(patience):
        global seen
        if select.select([terminal], [], [], patience)[0]: seen += os.read(terminal, 65536); return True
      for action in setup["actions"]:
        kind, value = action
        before = len(seen)
        if kind == "wait":
          first, then = (text.encode() for text in value)
          while then not in seen[waited:].partition(first)[2] or first not in seen[waited:]:
            if not read(20): sys.exit("%r was never written: %r" % (value, seen[waited:][-2000:]))
          waited = len(seen)
        elif kind == "run": subprocess.run(value, check=True, stdout=subprocess.DEVNULL)
        elif kind == "resize": resize(*value)
        elif kind == "type": os.write(terminal, value.encode())
        elif kind == "signal": tool.send_signal(value)
      end = time.monotonic() + 60
      while tool.poll() is None:
        read(0.01)
        if time.monotonic() > end: tool.kill(); sys.exit("the tool did not end: %r" % seen[-2000:])
      while read(0): pass
      modes = termios.tcgetattr(own)
      modes[3] &= ~(termios.ICANON | termios.ECHO)
      shows = bool(termios.tcgetattr(own)[3] & termios.ECHO)
      termios.tcsetattr(own, termios.TCSANOW, modes)
      unread = os.read(own, 4096).decode() if select.select([own], [], [], 0)[0] else ""
      print(json.dumps({"output": seen.hex(), "before": before, "status": tool.returncode, "shows": shows, "unread": unread}))
      """
    let setup: [String: Any] = [
      "command": ["sh", "-c", "exec \"$0\" \"$@\" " + redirection, Workspace.tool] + arguments, "columns": columns,
      "rows": rows, "waits": waits,
      "actions": actions.map { action -> [Any] in
        switch action {
        case .wait(let text, let other): ["wait", [text, other]]
        case .run(let command): ["run", command]
        case .resize(let columns, let rows): ["resize", [columns, rows]]
        case .type(let text): ["type", text]
        case .signal(let number): ["signal", Int(number)]
        }
      },
    ]
    let text = String(decoding: try JSONSerialization.data(withJSONObject: setup), as: UTF8.self)
    let outcome = try workspace.finish(
      [Child.python, "-c", program, text], ["TERM": "xterm"].merging(environment) { $1 })
    try #require(outcome.status == 0, "\(outcome)")
    let result = try JSONDecoder().decode(Result.self, from: Data(outcome.output.utf8))
    let digits = Array(result.output)
    output = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    outputBeforeLast = Array(output.prefix(result.before))
    status = result.status < 0 ? 128 - result.status : result.status
    showsTyping = result.shows
    unread = result.unread
  }

  private struct Result: Decodable {
    let output: String
    let before: Int
    let status: Int32
    let shows: Bool
    let unread: String
  }
}
