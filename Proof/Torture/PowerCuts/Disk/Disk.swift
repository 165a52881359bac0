/// A disk, with the pending changes that a power cut may lose.
///
/// `assumptions` lists the assumptions about it, and `Survival` says what a cut may leave.
struct Disk {
  /// Printed with every run, because the results depend on them.
  static let assumptions = [
    "everything that a successful sync of a file or a folder covers survives the cut",
    "each write and each change of a length since then may be lost or kept independently of all others",
    "a write may be torn between sectors of 512 bytes; a sector that was being written is old, new, zeros, or garbage",
    "bytes that were not written are not damaged (SQLite's powersafe overwrite)",
    "each name that was added, changed, or removed since the folder was synced may be lost or kept; a rename is atomic",
    "a sync that fails drops the data that it was to write, and a later successful sync does not cover that data",
    "the -shm file is always lost",
  ]

  /// The ways in which the disk breaks the assumptions, for controls.
  struct Defects {
    var ignoresSync: @Sendable (_ path: String) -> Bool = { _ in false }
    var ignoresFolderSync = false
    /// Drops what is written to a file between a failed sync and the next one.
    var ignoresRepair = false
  }

  typealias File = Int

  enum Change {
    case write(at: Int, [UInt8])
    case resize(to: Int)
  }

  enum Naming {
    case add(String, File)
    case remove(String)
    case move(String, to: String, File)
  }

  struct Pending {
    let file: File
    let change: Change
    /// Its sync failed, so that later syncs do not cover it.
    var hasFailedSync = false
  }

  private let defects: Defects
  /// The content that certainly survives, by file.
  private(set) var contents: [Bytes] = []
  private(set) var names: [String: File] = [:]
  /// The changes that may survive, in order.
  private(set) var pending: [Pending] = []
  private(set) var pendingNames: [Naming] = []
  /// The files whose last sync failed.
  private var unsettled: Set<File> = []
  /// The names as the running system sees them.
  private var present: [String: File] = [:]

  init(defects: Defects = Defects()) {
    self.defects = defects
  }

  mutating func apply(_ step: Recording.Step) {
    switch step {
    case .create(let path): add(path, newFile())
    case .write(let path, let offset, let bytes): change(path, .write(at: offset, bytes))
    case .resize(let path, let size): change(path, .resize(to: size))
    case .sync(let path): if !defects.ignoresSync(path) { sync(path) }
    case .failedSync(let path): failSync(path)
    case .syncFolder(let path): if !defects.ignoresFolderSync { syncFolder(path) }
    case .remove(let path):
      present[path] = nil
      pendingNames.append(.remove(path))
    case .rename(let path, let other):
      guard let file = present.removeValue(forKey: path) else { return }
      present[other] = file
      pendingNames.append(.move(path, to: other, file))
    case .link(let path, let other): if let file = present[path] { add(other, file) }
    case .announce: break
    }
  }

  private mutating func newFile() -> File {
    contents.append(Bytes())
    return contents.count - 1
  }

  private mutating func add(_ path: String, _ file: File) {
    present[path] = file
    pendingNames.append(.add(path, file))
  }

  private mutating func change(_ path: String, _ change: Change) {
    guard let file = present[path], !defects.ignoresRepair || !unsettled.contains(file) else { return }
    pending.append(Pending(file: file, change: change))
  }

  private mutating func sync(_ path: String) {
    guard let file = present[path] else { return }
    unsettled.remove(file)
    for piece in pending where piece.file == file && !piece.hasFailedSync { contents[file].apply(piece.change) }
    pending.removeAll { $0.file == file }
  }

  private mutating func failSync(_ path: String) {
    guard let file = present[path] else { return }
    unsettled.insert(file)
    for index in pending.indices where pending[index].file == file { pending[index].hasFailedSync = true }
  }

  private mutating func syncFolder(_ path: String) {
    for naming in pendingNames where naming.folder == path { names.apply(naming) }
    pendingNames.removeAll { $0.folder == path }
  }
}

extension Disk.Naming {
  fileprivate var folder: Substring {
    switch self {
    case .add(let path, _), .remove(let path), .move(let path, _, _):
      path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    }
  }
}

extension [String: Disk.File] {
  mutating func apply(_ naming: Disk.Naming) {
    switch naming {
    case .add(let path, let file): self[path] = file
    case .remove(let path): self[path] = nil
    case .move(let path, let other, let file):
      self[path] = nil
      self[other] = file
    }
  }
}
