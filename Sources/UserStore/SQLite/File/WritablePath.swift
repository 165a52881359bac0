/// Where a program is about to write: one rule for every file that this library and its tool create or write to.
///
/// Links are followed, even one that leads nowhere yet. A pipe or a device is written into, never replaced. So is a file to which
/// the output of this process is redirected: it may have the output of other programs, which may still write to it. A file that
/// is written has no name that SQLite gives to its own files, belongs to no database that this process has open, by whatever
/// name it was found, and has no -wal or -journal file beside it, which SQLite would apply to what replaces it. Only a new
/// database may have a -journal file: a power cut while it was first created can leave that alone, and SQLite deletes it.
package struct WritablePath: Sendable {
  package enum Content: Sendable {
    case nothing, file, stream
  }

  /// Absolute and without links; that of a stream as it was given, because what /dev/stdout leads to may have no name.
  package let path: String
  package let content: Content
  /// The descriptor with which this process writes to the file, if the file is its output.
  package let descriptor: Int32?

  /// Looks at a path.
  ///
  /// `database` is a file that need not be open, nor exist; nothing is written into it either. `createsDatabase` is whether SQLite
  /// will create the file.
  ///
  /// - Throws: `StoreError.Code.cannotCreate` and `.noPermission`.
  package init(
    _ given: String, besides database: String? = nil, createsDatabase: Bool = false
  ) throws(StoreError) {
    try DatabasePath.check(given, .cannotCreate)
    do {
      let kind = try Files.kind(of: given)
      switch kind {
      case .folder, .socket, .disk: throw StoreError(.cannotCreate, "\(given) is \(kind)")
      case .pipe, .device:
        (path, content, descriptor) = (given, .stream, nil)
        return
      case .missing: (path, content, descriptor) = (try Files.canonical(given), .nothing, nil)
      case .regular:
        descriptor = Files.descriptor(of: given)
        (path, content) = (try Files.canonical(given), descriptor == nil ? .file : .stream)
      }
      try check(given, besides: database, additions: createsDatabase ? ["-wal"] : ["-wal", "-journal"])
    } catch let error as SystemError {
      throw StoreError(error, otherwise: .cannotCreate)
    } catch {
      throw StoreError(error)
    }
  }

  /// The path of a file that can be replaced in one step; throws for a stream.
  package var file: String {
    get throws(StoreError) {
      if content != .stream { return path }
      let what = descriptor == nil ? "not a regular file" : "the output of this program"
      throw StoreError(.cannotCreate, "\(path) is \(what)")
    }
  }

  private func check(_ given: String, besides database: String?, additions: [String]) throws {
    let folder = Files.split(path).folder
    if try Files.kind(of: folder) == .missing {
      throw StoreError(.cannotCreate, "\(given): there is no folder \(folder)")
    }
    try DatabasePath.checkIsFree(path)
    let identity = content == .nothing ? nil : try Files.identity(of: given)
    if let owner = Self.owner(of: path, identity, besides: database) {
      throw StoreError(.cannotCreate, "\(given) \(owner)")
    }
    // A link in /proc may lead to a file that has lost its name.
    if content != .nothing, try Files.identity(of: path) != identity {
      throw StoreError(.cannotCreate, "\(given) was deleted or moved")
    }
    for other in additions.map({ path + $0 }) {
      // The name may be too long for an addition.
      guard let kind = try? Files.kind(of: other), kind != .missing else { continue }
      throw StoreError(.cannotCreate, "\(other) exists: \(path) is, or was, a database in use")
    }
  }

  /// Names the database, open or given, that a file belongs to; nil for any other file.
  ///
  /// A program must not open such a file either: closing it would drop the locks that SQLite has on it in this process.
  package static func owner(of path: String, besides database: String?) -> String? {
    owner(of: (try? Files.canonical(path)) ?? path, try? Files.identity(of: path), besides: database)
  }

  private static func owner(of path: String, _ file: Files.Identity?, besides database: String?) -> String? {
    let database = database.flatMap { try? Files.canonical($0) }
    if path == database { return "is the database" }
    guard let file else { return nil }
    let named = database.flatMap { path in (try? Files.identity(of: path)).map { (path, $0) } }
    for (path, main) in FileConnections.open + [named].compactMap(\.self) {
      if main == file { return "is the database \(path)" }
      if DatabasePath.isAddition(file, to: path) { return "belongs to the database \(path)" }
    }
    return nil
  }
}
