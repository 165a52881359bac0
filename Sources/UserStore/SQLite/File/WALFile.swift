#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Ensures under `synchronous=NORMAL` that the -wal file is on disk before a checkpoint copies its pages into the database.
///
/// SQLite syncs the file itself then, and retries a sync that failed. But a failed sync discards the data that it should have
/// written: the next one succeeds and covers only what was written since (Linux's vfs.rst, on errors during writeback). A
/// power cut during the checkpoint then leaves half of the new pages in the database, and no -wal file to repair it with. So
/// after a failed sync the data is written once more.
///
/// Under FULL, checkpoints need no sync, and data that is on disk is best left alone.
final class WALFile: Sendable {
  private let path: String
  private let state = Lock(State())

  private struct State {
    /// The generation of the file that was last on disk, and its length then.
    var generation: UInt64?
    var syncedLength = 0
    var hasFailed = false
  }

  init(path: String) { self.path = path }

  /// Syncs the file; once that has failed, it throws until `writeAgain` succeeds.
  func sync() throws(SystemError) {
    guard !state.withLock({ $0.hasFailed }) else { throw SystemError(operation: "sync \(path)", number: EIO) }
    do { try Files.sync(path) } catch {
      if error.isMissing { return }
      state.withLock { $0.hasFailed = true }
      throw error
    }
  }

  /// Writes again, and syncs, what may not be on disk, while the caller holds the write lock; readers find the same bytes.
  func writeAgain() throws(SystemError) {
    guard let header = try Header(path) else { return }
    let (generation, syncedLength) = state.withLock { ($0.generation, $0.syncedLength) }
    // Synced frames are not rewritten: a power cut during a write may destroy the sector. SQLite syncs the header
    // itself when it restarts the file, before it commits anything.
    let start = generation == header.generation ? syncedLength : Header.length
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 { throw SystemError(operation: "open \(path)") }
    defer { close(descriptor) }
    try Self.copyOntoItself(descriptor, from: start)
    if fsync(descriptor) != 0 { throw SystemError(operation: "sync \(path)") }
    state.withLock { $0.hasFailed = false }
  }

  /// Records that the file is on disk, and how many of its frames are in use, while the caller holds the write lock.
  func didSync(frames: Int) {
    guard let header = try? Header(path) else { return }
    state.withLock { ($0.generation, $0.syncedLength) = (header.generation, header.length(of: frames)) }
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

  /// The header of the file (sqlite.org/fileformat2.html, 4.1); its numbers are big-endian.
  private struct Header {
    static let length = 32
    static let frameHeaderLength = 24

    let pageSize: Int
    /// The two salts, which change when the file restarts.
    let generation: UInt64

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

    func length(of frames: Int) -> Int { Self.length + frames * (Self.frameHeaderLength + pageSize) }
  }
}
