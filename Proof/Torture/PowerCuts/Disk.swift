/// A disk, with the changes that it was given and that a power cut may still undo.
///
/// What is assumed of it stands in `assumptions`; what a cut may leave, in `Survival`.
struct Disk {
  /// Printed with every run: a result is worth as much as they are.
  static let assumptions = [
    "what a sync of a file that succeeded covers is there after the cut; so are, after one of a folder, its names",
    "everything since may be lost, each write and each change of a length by itself, in any order, whatever is kept of others",
    "a sector of 512 bytes is atomic, or comes out as garbage or zeros when it was being written; a write is torn between sectors",
    "bytes that were not written to are not harmed (what SQLite calls powersafe overwrite)",
    "names that were added, changed or removed since the folder was synced are lost or kept each by itself; a rename is one step",
    "a sync that fails has dropped what it was to write: the next one that succeeds does not cover it",
    "the -shm file is always lost",
  ]

  /// Which promises the disk breaks.
  struct Sins {
    var ignoresSync: @Sendable (_ path: String) -> Bool = { _ in false }
    var ignoresFolderSync = false
    /// What is written to a file between a sync that failed and the next one.
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
    /// The sync that was to cover it failed: only luck brings it to the disk.
    var isForsaken = false
  }

  private let sins: Sins
  /// What is there for certain, by file.
  private(set) var contents: [Bytes] = []
  private(set) var names: [String: File] = [:]
  /// What may be there, in the order in which it was done.
  private(set) var pending: [Pending] = []
  private(set) var pendingNames: [Naming] = []
  /// Files of which the last sync failed.
  private var unsettled: Set<File> = []
  /// Names as the running system sees them.
  private var present: [String: File] = [:]

  init(sins: Sins = Sins()) {
    self.sins = sins
  }

  mutating func apply(_ step: Recording.Step) {
    switch step {
    case .create(let path): add(path, newFile())
    case .write(let path, let offset, let bytes): change(path, .write(at: offset, bytes))
    case .resize(let path, let size): change(path, .resize(to: size))
    case .sync(let path): if !sins.ignoresSync(path) { sync(path) }
    case .failedSync(let path): forsake(path)
    case .syncFolder(let path): if !sins.ignoresFolderSync { syncFolder(path) }
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
    guard let file = present[path], !sins.ignoresRepair || !unsettled.contains(file) else { return }
    pending.append(Pending(file: file, change: change))
  }

  private mutating func sync(_ path: String) {
    guard let file = present[path] else { return }
    unsettled.remove(file)
    for piece in pending where piece.file == file && !piece.isForsaken { contents[file].apply(piece.change) }
    pending.removeAll { $0.file == file }
  }

  private mutating func forsake(_ path: String) {
    guard let file = present[path] else { return }
    unsettled.insert(file)
    for index in pending.indices where pending[index].file == file { pending[index].isForsaken = true }
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
