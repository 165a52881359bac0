// On Linux, which module has the members of `stat` depends on what else is compiled (Swift 6.3.1): this one, or Foundation's.
import CoreFoundation
import Foundation

/// A file with keys, which was opened once: its permissions and its content belong together.
struct KeyFile {
  static let maximumSize = 1 << 20

  let path: String
  let content: String
  private let mode: mode_t
  /// The file as it was before its content was read.
  let stamp: Stamp

  /// Opens and reads a file.
  ///
  /// Throws if it is missing, is too large, cannot be read, is not a file, or is not UTF-8.
  init(_ path: String) throws(Failure) {
    // Opening a named pipe must not wait for its writer.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { throw Self.failure(errno, path) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure(errno, path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(66, "\(path) is not a file") }
    let data: Data?
    do { data = try file.read(upToCount: Self.maximumSize + 1) } catch {
      throw Failure(66, "cannot read \(path): \(error.localizedDescription)")
    }
    if data?.count ?? 0 > Self.maximumSize { throw Failure(78, "\(path) has more than 1 MiB: it is no file with keys") }
    guard let content = String(validating: data ?? Data(), as: UTF8.self) else {
      throw Failure(78, "\(path) is not a text: it is no file with keys")
    }
    (self.path, self.content, mode, stamp) = (path, content, status.st_mode, Stamp(status))
  }

  private static func failure(_ error: Int32, _ path: String) -> Failure {
    switch error {
    case ENOENT, ENOTDIR: Failure(66, "there is no \(path)")
    case EACCES, EPERM: Failure(77, "no permission to read \(path)")
    default: Failure(66, "cannot read \(path): \(unsafe String(cString: strerror(error)))")
    }
  }

  /// Throws if other accounts can read the file, which is for one with a private key.
  func requireSecret() throws(Failure) {
    if mode & 0o077 != 0 { throw Failure(78, "\(path) can be read by other accounts", hint: "chmod 600 \(path)") }
  }

  /// Throws if other accounts can change the file: they could let in whom they want.
  func requireUnchangeable() throws(Failure) {
    if mode & 0o022 != 0 { throw Failure(78, "\(path) can be changed by other accounts", hint: "chmod go-w \(path)") }
  }

  // MARK: Changes

  /// What changes whenever the content of a file does, or another file takes its place.
  struct Stamp {
    private let device: dev_t
    private let inode: ino_t
    private let size: off_t
    private let modified: [Int]
    private let changed: [Int]
    /// Whether a further change would change the stamp: the clock of a file moves in steps.
    let isSettled: Bool

    fileprivate init(_ status: stat) {
      device = status.st_dev
      inode = status.st_ino
      size = status.st_size
      #if canImport(Darwin)
        let (modification, change) = (status.st_mtimespec, status.st_ctimespec)
      #else
        let (modification, change) = (status.st_mtim, status.st_ctim)
      #endif
      modified = [modification.tv_sec, modification.tv_nsec]
      changed = [change.tv_sec, change.tv_nsec]
      isSettled = max(modification.tv_sec, change.tv_sec) < time(nil) - 2
    }

    /// The stamp of the file that has the path now; nil if there is none.
    init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      self.init(status)
    }

    /// Whether the content is certainly that which the other stamp was taken with.
    func isUnchanged(since other: Stamp) -> Bool {
      other.isSettled && device == other.device && inode == other.inode && size == other.size
        && modified == other.modified && changed == other.changed
    }
  }
}
