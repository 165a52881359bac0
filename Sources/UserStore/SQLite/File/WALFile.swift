#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Sees to it that the -wal file is on disk before pages of it are copied into the database, under `synchronous=NORMAL`.
///
/// SQLite syncs it by itself then, and tries again later when that fails. But a sync that failed has given up what it was
/// to write: the next one succeeds, and covers only what was written since (Linux's vfs.rst, on
/// errors during writeback). A power cut while the database is being written then finds half of the new pages, and no -wal file to
/// mend them with: the database is damaged. So what a failed sync gave up is written once more.
///
/// Under FULL nothing is left for a checkpoint to sync, and what is on disk is better not touched.
final class WALFile: Sendable {
  private let path: String
  private let state = Lock(State())

  private struct State {
    /// Which file it was when it was last on disk, and how much of it was in use.
    var generation: UInt64?
    var secured = 0
    /// Whether a sync failed since.
    var isForsaken = false
  }

  init(path: String) {
    self.path = path
  }

  /// Syncs it.
  ///
  /// - Throws: when that failed now, or before: then only `writeAgain` helps.
  func sync() throws(SystemError) {
    guard !state.withLock({ $0.isForsaken }) else { throw SystemError(operation: "sync \(path)", number: EIO) }
    do { try Files.sync(path) } catch {
      if error.isMissing { return }
      state.withLock { $0.isForsaken = true }
      throw error
    }
  }

  /// Writes what may not be on disk once more, and syncs that.
  ///
  /// Nobody else may write to it meanwhile: the caller holds the write lock. Those who read find the same bytes.
  func writeAgain() throws(SystemError) {
    guard let head = try Head(path) else { return }
    let (generation, secured) = state.withLock { ($0.generation, $0.secured) }
    // What is on disk is left alone: a power cut in the middle of a write may take the sector with it. SQLite syncs the
    // head by itself when it begins the file anew, and commits nothing before.
    let start = generation == head.generation ? secured : Head.length
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 { throw SystemError(operation: "open \(path)") }
    defer { close(descriptor) }
    try Self.copyOntoItself(descriptor, from: start)
    if fsync(descriptor) != 0 { throw SystemError(operation: "sync \(path)") }
    state.withLock { $0.isForsaken = false }
  }

  /// It is on disk, and so many of its frames are in use; the caller holds the write lock.
  func isSecured(frames: Int) {
    guard let head = try? Head(path) else { return }
    state.withLock { ($0.generation, $0.secured) = (head.generation, head.size(of: frames)) }
  }

  private static func copyOntoItself(_ descriptor: Int32, from start: Int) throws(SystemError) {
    var buffer: [UInt8] = Array(repeating: 0, count: 1 << 16)
    var position = start
    while true {
      let count = unsafe pread(descriptor, &buffer, buffer.count, off_t(position))
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw SystemError(operation: "read the -wal file") }
      if count == 0 { return }
      var written = 0
      while written < count {
        let more = unsafe buffer.withUnsafeBytes { bytes in
          unsafe pwrite(descriptor, bytes.baseAddress! + written, count - written, off_t(position + written))
        }
        if more < 0, errno == EINTR { continue }
        if more < 0 { throw SystemError(operation: "write the -wal file") }
        written += more
      }
      position += count
    }
  }

  /// What it begins with (sqlite.org/fileformat2.html, 4.1): numbers are big-endian.
  private struct Head {
    static let length = 32
    static let frameLength = 24

    let pageSize: Int
    /// The two salts, which change whenever the file is begun anew.
    let generation: UInt64

    /// - Returns: nil when there is none.
    init?(_ path: String) throws(SystemError) {
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      if descriptor < 0, errno == ENOENT { return nil }
      if descriptor < 0 { throw SystemError(operation: "open \(path)") }
      defer { close(descriptor) }
      var bytes: [UInt8] = Array(repeating: 0, count: Self.length)
      guard unsafe pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return nil }
      pageSize = bytes[8..<12].reduce(0) { $0 << 8 | Int($1) }
      generation = bytes[16..<24].reduce(0) { $0 << 8 | UInt64($1) }
    }

    func size(of frames: Int) -> Int { Self.length + frames * (Self.frameLength + pageSize) }
  }
}
