import CUserStoreSQLite

/// Does something in the middle of a checkpoint: after that has read where the -wal file ends, before it acts on it.
///
/// Just there SQLite lets go of the pages that it had mapped, by a method of the database file. The file gets a table
/// of methods in which that one calls us first.
@safe package final class CheckpointRace {
  private let action: () -> Void
  private var hasRun = false

  private init(_ action: @escaping () -> Void) {
    self.action = action
  }

  /// Runs `checkpoint`, which is to make a checkpoint on the connection of `handle`, and `action` within it, once.
  ///
  /// - Throws: what `checkpoint` throws, and `Mismatch` when `action` did not run.
  package static func run(
    on handle: OpaquePointer, action: @escaping () -> Void, within checkpoint: () throws -> Void
  ) throws {
    let file = try unsafe databaseFile(of: handle)
    let original = unsafe file.pointee.pMethods!
    let race = CheckpointRace(action)
    var methods = unsafe Methods(table: original.pointee, original: original, race: .passUnretained(race))
    unsafe methods.table.xUnfetch = { file, offset, page in unsafe Methods.of(file).unfetch(file, offset, page) }
    try unsafe withUnsafePointer(to: &methods) { methods in
      unsafe file.pointee.pMethods = UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self)
      defer { unsafe file.pointee.pMethods = original }
      try checkpoint()
    }
    if !race.hasRun { throw Mismatch("SQLite no longer calls xUnfetch within a checkpoint") }
  }

  /// Whether the library that is loaded has the repair, in its own line or in one that got it later.
  package static var isRepaired: Bool {
    let version = sqlite3_libversion_number()
    return version >= 3_051_003 || (3_050_007..<3_051_000).contains(version)
      || (3_044_006..<3_045_000).contains(version)
  }

  fileprivate func runOnce() {
    guard !hasRun else { return }
    hasRun = true
    action()
  }

  private static func databaseFile(of handle: OpaquePointer) throws -> UnsafeMutablePointer<sqlite3_file> {
    var file: UnsafeMutablePointer<sqlite3_file>?
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard let file = unsafe file else { throw Mismatch("SQLite does not show the database file") }
    return unsafe file
  }
}

/// A table of file methods, with what ours needs right behind it.
@unsafe private struct Methods {
  var table: sqlite3_io_methods
  let original: UnsafePointer<sqlite3_io_methods>
  let race: Unmanaged<CheckpointRace>

  static func of(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Methods {
    unsafe UnsafeRawPointer(file!.pointee.pMethods!).assumingMemoryBound(to: Methods.self).pointee
  }

  func unfetch(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: sqlite3_int64, _ page: UnsafeMutableRawPointer?
  ) -> Int32 {
    unsafe race.takeUnretainedValue().runOnce()
    return unsafe original.pointee.xUnfetch(file, offset, page)
  }
}
