import CUserStoreSQLite
import Testing
import UserStore

/// SQLite handles of connections that keep them private, for tests that change the layer below.
///
/// SQLite calls an automatic extension for every connection that this process opens. This one records the handles for
/// the paths that a test watches.
enum OpenedHandles {
  /// The handles by path, as numbers, because a pointer is not `Sendable`.
  private static let handles = Lock<[String: UInt]>([:])

  /// Starts to record the handles of connections that open the file.
  static func watch(_ path: String) throws {
    try #require(isInstalled)
    handles.withLock { $0[path] = 0 }
  }

  /// The handle of the last connection that opened the file since `watch`, valid while that connection is open.
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
