// Modeled in Proof/Model/WakeUp.pml; change both.

import CUserStoreSystem

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
    /// A file was touched, or the signal was given.
    ///
    /// Writers do this after their commit has become visible.
    static let touched = Happening(rawValue: 2)
    /// A file came, went or was moved, or the folder did.
    static let renamed = Happening(rawValue: 4)
    /// The system dropped events.
    static let overflowed = Happening(rawValue: 8)
    /// `wake` was called.
    static let woken = Happening(rawValue: 16)
  }

  let hasEvents: Bool
  private let folder: String
  private let names: [[UInt8]]
  private let signal: String?
  /// -1 without events.
  private let events: Lock<Int32>
  /// What the system calls the watch on the folder; all others are on the signal's file.
  private let folderWatch: Int32
  private let hearsWrites = Lock(true)
  private let wakeReader: Int32
  private let wakeWriter: Int32

  /// - Parameters:
  ///   - folder: The folder to watch; a watch on a file would end when SQLite deletes the file.
  ///   - names: The files in it that matter.
  ///   - signal: The file in it that `Files.signal` is called with. It has a watch of its own: the folder's would make an
  ///     event for everybody who reads any file in it.
  ///   - usingEvents: False to have none, as on systems without them.
  /// - Throws: `SystemError` when the process has no descriptors left.
  init(folder: String, names: Set<String>, signal: String? = nil, usingEvents: Bool) throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SystemError(operation: "create a pipe") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (wakeReader, wakeWriter) = (ends[0], ends[1])
    self.folder = folder
    self.names = names.map { Array($0.utf8) }
    self.signal = signal
    let (events, watch) = usingEvents ? Self.openEvents(folder) : (-1, -1)
    self.events = Lock(events)
    folderWatch = watch
    hasEvents = events >= 0
    if hasEvents { watchSignal(events) }
  }

  deinit {
    close(wakeReader)
    close(wakeWriter)
    closeEvents()
  }

  /// Lets the system forget the folder, for which Linux takes ten milliseconds; `wait` must not be called any more.
  func closeEvents() {
    let events = events.withLock { events in
      defer { events = -1 }
      return events
    }
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
    let events = events.withLock { $0 }
    let ready = userstore_wait_readable(wakeReader, events, Int64(microseconds))
    var happening: Happening = []
    if ready & 1 != 0 {
      happening.insert(.woken)
      drainWakes()
    }
    if ready & 2 != 0 { happening.formUnion(readEvents(events)) }
    return happening
  }

  /// Whether it is told of writes and touches; at first it is.
  ///
  /// Linux makes an event of every one of them, on the writer's time: some two microseconds for a commit of one row.
  func setHearsWrites(_ hears: Bool) {
    let events = events.withLock { $0 }
    if events < 0 { return }
    hearsWrites.withLock { $0 = hears }
    Self.watch(folder, events, hearsWrites: hears)
    watchSignal(events)
  }

  private func drainWakes() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while unsafe read(wakeReader, &bytes, 64) == 64 {}
  }

  #if os(Linux)
    private static func openEvents(_ folder: String) -> (events: Int32, watch: Int32) {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return (-1, -1) }
      let watch = watch(folder, descriptor, hearsWrites: true)
      if watch < 0 { close(descriptor) }
      return watch < 0 ? (-1, -1) : (descriptor, watch)
    }

    /// A folder that is watched already gets the new mask.
    @discardableResult
    private static func watch(_ folder: String, _ events: Int32, hearsWrites: Bool) -> Int32 {
      let names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
      let writes = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE
      return unsafe inotify_add_watch(events, folder, UInt32(hearsWrites ? names | writes : names))
    }

    /// Watches the signal's file, which may have come a moment ago, or have taken another one's place.
    private func watchSignal(_ events: Int32) {
      guard let signal else { return }
      // With another mask the watch stays, and hears nothing that happens.
      let mask = hearsWrites.withLock { $0 } ? IN_CLOSE_NOWRITE : IN_MOVE_SELF
      _ = unsafe inotify_add_watch(events, folder + "/" + signal, UInt32(mask) | UInt32(IN_DONT_FOLLOW))
    }

    private func readEvents(_ events: Int32) -> Happening {
      unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
        var happening: Happening = []
        while true {
          let length = unsafe read(events, buffer.baseAddress, buffer.count)
          guard length > 0 else { return happening }
          var offset = 0
          while offset < length {
            let event = unsafe buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            offset = start + Int(event.len)
            let name = unsafe buffer[start..<offset].prefix { $0 != 0 }
            happening.formUnion(
              event.wd == folderWatch || event.wd < 0
                ? unsafe meaning(of: Int(event.mask), name, events) : Self.meaning(ofSignal: Int(event.mask)))
          }
        }
      }
    }

    private static func meaning(ofSignal mask: Int) -> Happening {
      mask & Int(IN_CLOSE_NOWRITE) != 0 ? .touched : []
    }

    private func meaning(
      of mask: Int, _ name: Slice<UnsafeMutableRawBufferPointer>, _ events: Int32
    ) -> Happening {
      if mask & Int(IN_Q_OVERFLOW) != 0 { return .overflowed }
      if mask & Int(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { return .renamed }
      guard names.contains(where: { unsafe name.elementsEqual($0) }) else { return [] }
      var happening: Happening = []
      if mask & Int(IN_MODIFY | IN_CLOSE_WRITE) != 0 { happening.insert(.written) }
      if mask & Int(IN_ATTRIB) != 0 { happening.insert(.touched) }
      if mask & Int(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) != 0 { happening.insert(.renamed) }
      if mask & Int(IN_CREATE | IN_MOVED_TO) != 0, let signal, unsafe name.elementsEqual(signal.utf8) {
        watchSignal(events)
      }
      return happening
    }
  #else
    private static func openEvents(_ folder: String) -> (events: Int32, watch: Int32) { (-1, -1) }
    private static func watch(_ folder: String, _ events: Int32, hearsWrites: Bool) {}
    private func watchSignal(_ events: Int32) {}
    private func readEvents(_ events: Int32) -> Happening { [] }
  #endif
}
