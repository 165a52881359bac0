// Modeled in Proof/Model/WakeUp.pml; change both.

import CUserStoreSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Waits for changes of the named files in a folder.
///
/// On Linux the events are inotify's. On other systems, at inotify's limits, and without `usingEvents`, `hasEvents` is false
/// and `wait` ends only by `wake` or the timeout: the caller polls.
final class DirectoryEvents: Sendable {
  let hasEvents: Bool
  private let folder: String
  private let names: [[UInt8]]
  private let signal: [UInt8]?
  private let events: Lock<Int32>
  /// The watch descriptor of the folder; all others are of files.
  private let folderWatch: Int32
  private let watchesWrites = Lock(true)
  private let waker: SelfPipe

  /// Starts watching the files `names` of a folder, and the one among them that `Files.signal` is called with.
  ///
  /// The watch of a file ends when the file is deleted, so the folder is watched for names that appear, and each file for
  /// writes: with its mask on the folder, every write to any other file in it, a log for example, would be an event.
  init(folder: String, names: Set<String>, signal: String? = nil, usingEvents: Bool) throws(SystemError) {
    waker = try SelfPipe()
    self.folder = folder
    self.names = names.map { Array($0.utf8) }
    self.signal = signal.map { Array($0.utf8) }
    let (events, watch) = usingEvents ? Self.openEvents(folder) : (-1, -1)
    self.events = Lock(events)
    folderWatch = watch
    hasEvents = events >= 0
    if hasEvents { for name in self.names { watchFile(name, events) } }
  }

  deinit { closeEvents() }

  /// Closes the inotify descriptor, after the last `wait`; this takes Linux ten milliseconds.
  func closeEvents() {
    let events = events.withLock { exchange(&$0, with: -1) }
    if events >= 0 { close(events) }
  }

  /// Ends a `wait`, the current one or the next.
  func wake() { waker.wake() }

  /// Waits at most `microseconds` for events, and returns those since the last call.
  ///
  /// If there are many, it leaves the rest to the next call. The result is empty after a timeout, and for events of other files.
  func wait(microseconds: Int) -> CommitEvent {
    let events = events.withLock { $0 }
    let ready = userstore_wait_readable(waker.reader, events, Int64(microseconds))
    var received: CommitEvent = []
    if ready & 1 != 0 {
      received.insert(.woken)
      waker.drain()
    }
    if ready & 2 != 0 { received.formUnion(readEvents(events)) }
    return received
  }

  /// Turns events of writes and touches on or off; they are on at first.
  ///
  /// Linux creates each of them in the writer's time: some two microseconds for a commit of one row.
  func setReportsWrites(_ reportsWrites: Bool) {
    let events = events.withLock { $0 }
    if events < 0 { return }
    watchesWrites.withLock { $0 = reportsWrites }
    for name in names { watchFile(name, events) }
  }

  #if os(Linux)
    private static func openEvents(_ folder: String) -> (events: Int32, watch: Int32) {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return (-1, -1) }
      let mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
      let watch = unsafe inotify_add_watch(descriptor, folder, UInt32(mask))
      if watch < 0 { close(descriptor) }
      return watch < 0 ? (-1, -1) : (descriptor, watch)
    }

    /// Watches a file, which may be new or have replaced another one; if it is watched already, changes the mask.
    private func watchFile(_ name: [UInt8], _ events: Int32) {
      // IN_MOVE_SELF keeps the watch without reporting any write or signal.
      var mask = IN_MOVE_SELF
      if watchesWrites.withLock({ $0 }) {
        mask = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE
        if name == signal { mask |= IN_CLOSE_NOWRITE }
      }
      let path = (Array(folder.utf8) + [UInt8(ascii: "/")] + name + [0]).map { CChar(bitPattern: $0) }
      _ = unsafe inotify_add_watch(events, path, UInt32(mask) | UInt32(IN_DONT_FOLLOW))
    }

    /// Reads some events: others may come as fast as they are read.
    private func readEvents(_ events: Int32) -> CommitEvent {
      unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
        var received: CommitEvent = []
        let length = unsafe read(events, buffer.baseAddress, buffer.count)
        var offset = 0
        while offset < length {
          let event = unsafe buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let start = offset + MemoryLayout<inotify_event>.size
          offset = start + Int(event.len)
          let mask = Int(event.mask)
          let name = unsafe buffer[start..<offset].prefix { $0 != 0 }
          received.formUnion(
            event.wd == folderWatch || event.wd < 0 ? unsafe decode(mask, name, events) : Self.decode(mask))
        }
        return received
      }
    }

    private static func decode(_ mask: Int) -> CommitEvent {
      var received: CommitEvent = []
      if mask & Int(IN_MODIFY | IN_CLOSE_WRITE) != 0 { received.insert(.written) }
      if mask & Int(IN_ATTRIB | IN_CLOSE_NOWRITE) != 0 { received.insert(.signaled) }
      return received
    }

    private func decode(_ mask: Int, _ name: Slice<UnsafeMutableRawBufferPointer>, _ events: Int32) -> CommitEvent {
      if mask & Int(IN_Q_OVERFLOW) != 0 { return .overflowed }
      if mask & Int(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { return .renamed }
      guard let name = names.first(where: { unsafe name.elementsEqual($0) }) else { return [] }
      if mask & Int(IN_CREATE | IN_MOVED_TO) != 0 { watchFile(name, events) }
      return .renamed
    }
  #else
    private static func openEvents(_ folder: String) -> (events: Int32, watch: Int32) { (-1, -1) }
    private func watchFile(_ name: [UInt8], _ events: Int32) {}
    private func readEvents(_ events: Int32) -> CommitEvent { [] }
  #endif
}

/// What may have been committed.
package struct CommitEvent: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Something was written; it may not be visible yet.
  package static let written = CommitEvent(rawValue: 1)
  /// A writer signaled that its commit is visible.
  package static let signaled = CommitEvent(rawValue: 2)
  /// A file was created, deleted or renamed, or the folder was.
  package static let renamed = CommitEvent(rawValue: 4)
  /// The system dropped events.
  package static let overflowed = CommitEvent(rawValue: 8)
  /// `wake` was called.
  package static let woken = CommitEvent(rawValue: 16)
}
