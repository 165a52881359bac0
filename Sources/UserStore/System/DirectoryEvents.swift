// Modelled in Model/WakeUp.pml; change both.

import CSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Sleeps until something happens to the named files of a folder, until it is woken, or until a time has passed.
///
/// On Linux the events are inotify's. Elsewhere, where inotify's limits are reached, or when the caller wants none,
/// `hasEvents` is false and `wait` only knows `wake` and the time: its user polls.
final class DirectoryEvents: Sendable {
  struct Happening: OptionSet, Sendable {
    let rawValue: Int
    /// A file was written or closed: what was written may not be visible yet.
    static let written = Happening(rawValue: 1)
    /// A file was touched: whoever touches does so when what was written is visible.
    static let touched = Happening(rawValue: 2)
    /// A file came, went or was moved, or the folder did.
    static let renamed = Happening(rawValue: 4)
    /// The system dropped events.
    static let overflowed = Happening(rawValue: 8)
    /// `wake` was called.
    static let woken = Happening(rawValue: 16)
  }

  let hasEvents: Bool
  private let names: Set<String>
  private let events: Int32
  private let wakeReader: Int32
  private let wakeWriter: Int32

  /// - Parameters:
  ///   - folder: The folder to watch; a watch on a file would end when SQLite deletes the file.
  ///   - names: The files in it that matter.
  ///   - usingEvents: False to have none, as on systems without them.
  /// - Throws: `SystemError` when the process has no descriptors left.
  init(folder: String, names: Set<String>, usingEvents: Bool) throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SystemError(operation: "create a pipe") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (wakeReader, wakeWriter) = (ends[0], ends[1])
    self.names = names
    events = usingEvents ? Self.openEvents(folder) : -1
    hasEvents = events >= 0
  }

  deinit {
    close(wakeReader)
    close(wakeWriter)
    if events >= 0 { close(events) }
  }

  /// Ends a `wait`, the present one or the next.
  func wake() {
    var byte: UInt8 = 1
    _ = unsafe write(wakeWriter, &byte, 1)
  }

  /// Sleeps, and says what ended it; empty when the time had passed.
  ///
  /// - Parameter microseconds: How long at most.
  /// - Returns: all that happened since the last call.
  func wait(microseconds: Int) -> Happening {
    let ready = userstore_wait_readable(wakeReader, events, Int64(microseconds))
    var happening: Happening = []
    if ready & 1 != 0 {
      happening.insert(.woken)
      drainWakes()
    }
    if ready & 2 != 0 { happening.formUnion(readEvents()) }
    return happening
  }

  private func drainWakes() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while unsafe read(wakeReader, &bytes, 64) == 64 {}
  }

  #if os(Linux)
    private static func openEvents(_ folder: String) -> Int32 {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return -1 }
      let mask =
        IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF
        | IN_MOVE_SELF
      guard unsafe inotify_add_watch(descriptor, folder, UInt32(mask)) >= 0 else {
        close(descriptor)
        return -1
      }
      return descriptor
    }

    private func readEvents() -> Happening {
      var happening: Happening = []
      var buffer: [UInt8] = Array(repeating: 0, count: 16_384)
      while true {
        let length = unsafe read(events, &buffer, 16_384)
        guard length > 0 else { return happening }
        var offset = 0
        while offset < length {
          let (mask, name, size) = unsafe buffer.withUnsafeBytes { bytes in
            let event = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            let name = unsafe bytes[start..<start + Int(event.len)].prefix { $0 != 0 }
            return unsafe (event.mask, String(decoding: name, as: UTF8.self), start + Int(event.len) - offset)
          }
          offset += size
          happening.formUnion(meaning(of: Int(mask), name: name))
        }
      }
    }

    private func meaning(of mask: Int, name: String) -> Happening {
      if mask & Int(IN_Q_OVERFLOW) != 0 { return .overflowed }
      if mask & Int(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { return .renamed }
      guard names.contains(name) else { return [] }
      var happening: Happening = []
      if mask & Int(IN_MODIFY | IN_CLOSE_WRITE) != 0 { happening.insert(.written) }
      if mask & Int(IN_ATTRIB) != 0 { happening.insert(.touched) }
      if mask & Int(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) != 0 { happening.insert(.renamed) }
      return happening
    }
  #else
    private static func openEvents(_ folder: String) -> Int32 { -1 }
    private func readEvents() -> Happening { [] }
  #endif
}
