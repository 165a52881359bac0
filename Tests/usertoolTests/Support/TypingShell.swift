import Foundation
import TestSupport
import Testing

/// An interactive shell on its own terminal, with usertool's completion script.
struct TypingShell {
  enum Kind: String, CaseIterable, Sendable {
    case bash, zsh, fish

    var command: [String] {
      switch self {
      case .bash: ["bash", "--norc", "-i"]
      case .zsh: ["zsh", "-f", "-i"]
      case .fish: ["fish", "--no-config", "-i"]
      }
    }

    var setup: String {
      switch self {
      case .bash: "source <(usertool completion bash)"
      case .zsh: "autoload -U compinit; compinit -u -D; source <(usertool completion zsh)"
      case .fish: "usertool completion fish | source"
      }
    }
  }

  let kind: Kind
  let workspace: Workspace

  /// Types lines and returns the output of each command; throws if a command does not end.
  ///
  /// A tab in a line presses TAB, and `end` is typed after each line.
  func outputs(of lines: [String], end: String) throws -> [String] {
    let folder = URL(fileURLWithPath: Workspace.tool).deletingLastPathComponent().path
    let typing = try workspace.folder(named: "typing")
    // The gate after each line: the next line is typed only when the shell has created a file, after the command's end.
    let program = """
      import fcntl, os, pty, select, struct, sys, termios
      folder, setup, end, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
      lines, command = sys.argv[5:5 + count], sys.argv[5 + count:]
      process, terminal = pty.fork()
      if process == 0:
        os.chdir(folder)
        os.execvp(command[0], command)
      fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
      seen = b""
      def type(text, gate):
        global seen
        os.write(terminal, text.encode())
        patience = 6000
        while not os.path.exists(folder + "/" + gate):
          patience -= 1
          if patience == 0: sys.exit("%r never ended: %r" % (text, seen[-2000:]))
          if select.select([terminal], [], [], 0.01)[0]: seen += os.read(terminal, 65536)
      type(setup + "; echo > ready\\r", "ready")
      for index, line in enumerate(lines):
        type("%s%s > out.%d; echo > done.%d\\r" % (line, end, index, index), "done.%d" % index)
      """
    let outcome = try workspace.finish(
      [Child.python, "-c", program, typing, kind.setup, end, "\(lines.count)"] + lines + kind.command,
      ["PATH": folder + ":" + (workspace.environment["PATH"] ?? ""), "TERM": "xterm"])
    try #require(outcome.status == 0, "\(outcome)")
    return lines.indices.map { index in
      String(decoding: workspace.bytes(of: "typing/out.\(index)") ?? Data(), as: UTF8.self)
    }
  }

  /// The files in the shell's folder, except those that the typing creates.
  func traces() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: workspace.folder + "/typing").filter { name in
      name != "ready" && !name.hasPrefix("out.") && !name.hasPrefix("done.")
    }
  }
}

extension Workspace {
  fileprivate func folder(named name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: false)
    return folder + "/" + name
  }
}
