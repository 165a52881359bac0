import CUserStoreSQLite
import Synchronization
import Testing

/// SQLite's handle of a connection that keeps it to itself, for tests that change what lies below it.
///
/// SQLite calls an automatic extension for every connection that this process opens; this one notes the handles of the
/// files that a test asked for.
enum OpenedHandles {
  /// By path; a handle as a number, because a pointer is not `Sendable`.
  private static let handles = Mutex<[String: UInt]>([:])

  /// From now on the handle of whoever opens the file is noted.
  static func watch(_ path: String) throws {
    try #require(isInstalled)
    handles.withLock { $0[path] = 0 }
  }

  /// The handle of the last connection that opened the file since `watch`: good for as long as that is open.
  static func last(_ path: String) throws -> OpaquePointer {
    let handle = handles.withLock { $0.removeValue(forKey: path) } ?? 0
    return try unsafe #require(OpaquePointer(bitPattern: handle))
  }

  private typealias EntryPoint = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32

  private static let isInstalled: Bool = {
    let entryPoint: EntryPoint = { handle, _, _ in
      guard let name = unsafe sqlite3_db_filename(handle, "main") else { return SQLITE_OK }
      let path = unsafe String(cString: name)
      let number = UInt(bitPattern: handle)
      OpenedHandles.handles.withLock { if $0[path] != nil { $0[path] = number } }
      return SQLITE_OK
    }
    // C declares it without parameters, and calls it with three (sqlite.org/c3ref/auto_extension.html).
    return unsafe sqlite3_auto_extension(unsafeBitCast(entryPoint, to: (@convention(c) () -> Void).self)) == SQLITE_OK
  }()
}
