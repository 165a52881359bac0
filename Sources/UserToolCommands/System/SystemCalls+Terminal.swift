import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The terminal.
extension System {
  static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1
  }

  /// Whether output to a path appears on a terminal.
  static func isTerminal(_ path: String) -> Bool {
    // For a pipe, opening and closing would look like the end to its reader.
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    return isTerminal(descriptor)
  }

  static func columns(of descriptor: Int32) -> Int? { size(ofTerminal: descriptor)?.columns }

  /// The size of the terminal; nil if there is no terminal, or if its size is unknown.
  static func size(ofTerminal descriptor: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard isTerminal(descriptor), unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Makes help at least so wide; on a narrower terminal, the parser would omit descriptions or crash.
  static func widenHelp(to least: Int) {
    let columns = environment("COLUMNS").flatMap { Int($0) } ?? columns(of: standardOutput) ?? least
    if columns < least { unsafe setenv("COLUMNS", String(least), 1) }
  }

  /// Whether the process may use the terminal because a shell has not put it into the background.
  static func isInForeground(of terminal: Int32) -> Bool {
    let group = tcgetpgrp(terminal)
    return group < 0 || group == getpgrp()
  }

  typealias TerminalModes = termios

  /// Stops showing what is typed, and returns the previous modes; nil if that is not possible.
  static func hideTyping(on terminal: Int32) -> TerminalModes? {
    var modes = termios()
    // The terminal would stop a process in the background.
    guard isTerminal(terminal), isInForeground(of: terminal), unsafe tcgetattr(terminal, &modes) == 0 else {
      return nil
    }
    var quiet = modes
    quiet.c_lflag &= ~tcflag_t(ECHO)
    return unsafe tcsetattr(terminal, TCSANOW, &quiet) == 0 ? modes : nil
  }

  /// Sets the terminal's modes, and discards typed characters, which the shell would run.
  static func restore(_ modes: TerminalModes, on terminal: Int32) {
    var modes = modes
    _ = unsafe tcsetattr(terminal, TCSAFLUSH, &modes)
  }

  /// Stops the process, as Ctrl-Z does, until a shell continues it.
  static func stop() {
    kill(getpid(), SIGSTOP)
  }

  static let windowChange = SIGWINCH
  static let terminalStop = SIGTSTP
  static let `continue` = SIGCONT
}
