import Foundation
import TortureSupport

/// A folder in memory, and the group of the processes that work in it.
///
/// Both end with this object, or with this process.
///
/// A watchdog waits at the other end of a pipe, which the system closes even if this process is killed.
final class Scratch: @unchecked Sendable {
  let folder: String
  /// The watchdog's process group, which all processes that work here join.
  let group: pid_t
  private let watchdog: Child

  init(_ name: String) throws {
    let parent = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    var template = Array("\(parent)/torture-\(name)-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&template) else { throw TortureError("cannot create a folder in \(parent)") }
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

/// The reason that the torture cannot run.
struct TortureError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
