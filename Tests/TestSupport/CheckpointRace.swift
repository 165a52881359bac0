import CUserStoreSQLite

/// Runs code in the middle of a checkpoint: after the checkpoint has read where the -wal file ends, and before it acts on that.
///
/// At that point SQLite releases the pages that it has mapped, through a method of the database file. This class
/// replaces the file's method table with one whose `xUnfetch` runs the code first.
@safe package final class CheckpointRace {
  private let action: () -> Void
  private var hasRun = false

  private init(_ action: @escaping () -> Void) {
    self.action = action
  }

  /// Runs `checkpoint`, which must checkpoint the connection of `handle`, and runs `action` once inside it.
  ///
  /// - Throws: The error that `checkpoint` throws, or a `Mismatch` if `action` did not run.
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
    if !race.hasRun { throw Mismatch("SQLite no longer calls xUnfetch inside a checkpoint") }
  }

  /// Whether the loaded SQLite has the fix: since 3.51.3, and backported to 3.50.7 and 3.44.6.
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
    guard let file = unsafe file else { throw Mismatch("SQLite does not return the database file") }
    return unsafe file
  }
}

/// A table of file methods, followed by the data that our method needs.
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
