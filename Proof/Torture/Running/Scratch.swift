import Foundation
import TortureSupport

/// A folder in memory, and the process group of those who work in it: both go when this goes, or when this process
/// ends in whatever way.
///
/// A watchdog waits at the other end of a pipe: the system closes it for those who can close nothing any more.
final class Scratch: @unchecked Sendable {
  let folder: String
  /// The watchdog's, for everybody who is started to work here.
  let group: pid_t
  private let watchdog: Child

  init(_ name: String) throws {
    let parent = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    var template = Array("\(parent)/torture-\(name)-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&template) else { throw TortureError("cannot make a folder in \(parent)") }
    folder = unsafe String(cString: made)
    let script = #"read -r line; rm -rf "$1"; kill -KILL 0"#
    watchdog = try Child(["/bin/sh", "-c", script, "watchdog", folder], environment: [:], group: 0)
    group = watchdog.id
  }

  deinit {
    watchdog.endInput()
    _ = watchdog.wait()
  }
}

/// Why the torture cannot be done.
struct TortureError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
