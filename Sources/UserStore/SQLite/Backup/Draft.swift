/// A file that is made beside the place where it belongs, and gets its name when it is whole.
///
/// Whoever makes it may be killed at any moment: what lies under the name is the old file or the new one, and what is
/// left over is called `NAME.….partial`.
struct Draft: Sendable {
  /// Where it is to lie: absolute, without links.
  let target: String
  let path: String
  private let replaces: Bool

  /// Creates it, empty, for its owner only.
  ///
  /// - Parameters:
  ///   - target: Where it is to lie.
  ///   - replaces: Whether a file that lies there is replaced.
  ///   - file: What it must not replace.
  /// - Throws: `StoreError.Code.alreadyExists`, `.cannotCreate`, `.noPermission`, `.diskFull`.
  init(for target: String, replaces: Bool, besides file: DatabaseFile?) throws(StoreError) {
    guard !Files.split(target).name.isEmpty, !target.utf8.contains(0) else {
      throw StoreError(.cannotCreate, "“\(target.filter { $0 != "\0" })” names no file")
    }
    do {
      self.target = try Files.canonical(target)
      self.replaces = replaces
      try Self.check(self.target, replaces: replaces, besides: file)
      path = self.target + "." + String(UInt64.random(in: .min ... .max), radix: 36) + ".partial"
      try Files.createNew(path)
    } catch let error as StoreError {
      throw error
    } catch {
      throw (error as? SystemError).map { StoreError($0, otherwise: .cannotCreate) }
        ?? StoreError(.unexpected, "\(error)", cause: error)
    }
  }

  private static func check(_ target: String, replaces: Bool, besides file: DatabaseFile?) throws {
    let kind = try Files.kind(of: target)
    if kind == .directory { throw StoreError(.cannotCreate, "\(target) is a folder") }
    if kind == .other { throw StoreError(.cannotCreate, "\(target) is not a regular file") }
    if kind == .regular, let file, try Files.identity(of: target) == file.identity {
      throw StoreError(.cannotCreate, "\(target) is the store itself")
    }
    // SQLite would play them into the new file, which they do not belong to.
    for beside in ["-wal", "-journal"].map({ target + $0 }) where try Files.kind(of: beside) != .missing {
      throw StoreError(.cannotCreate, "\(beside) lies there: \(target) is, or was, a database in use")
    }
    if kind == .regular, !replaces { throw StoreError(.alreadyExists, "\(target) is there already") }
  }

  /// Syncs it and gives it its name.
  ///
  /// SQLite has it open no more.
  func publish() throws(StoreError) {
    do throws(SystemError) {
      try Files.sync(path)
      if replaces { try Files.replace(target, with: path) } else { try Files.place(path, at: target) }
      try Files.sync(Files.split(target).folder)
    } catch {
      throw StoreError(error, otherwise: .ioError)
    }
  }

  /// Removes it, with what SQLite may have put beside it.
  func remove() {
    for end in ["", "-journal", "-wal", "-shm"] { Files.remove(path + end) }
  }
}
