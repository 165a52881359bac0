import CUserStoreSQLite
import Synchronization

/// Makes the next RELEASE of a connection fail, as it does when memory is exhausted: an authorizer refuses it once.
///
/// Setting an authorizer makes SQLite prepare every statement again, and it calls the authorizer when it prepares
/// (sqlite.org/c3ref/set_authorizer.html).
@safe final class RefusedRelease: Sendable {
  private let left = Atomic(1)

  /// - Parameter handle: The handle of the connection, which retains this object.
  init(on handle: OpaquePointer) {
    let refuse:
      @convention(c) (
        UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
        UnsafePointer<CChar>?
      ) -> Int32 = { context, action, operation, _, _, _ in
        guard action == SQLITE_SAVEPOINT, let operation = unsafe operation,
          unsafe String(cString: operation) == "RELEASE"
        else { return SQLITE_OK }
        let refused = unsafe Unmanaged<RefusedRelease>.fromOpaque(context!).takeUnretainedValue()
        return refused.left.subtract(1, ordering: .relaxed).oldValue > 0 ? SQLITE_DENY : SQLITE_OK
      }
    unsafe sqlite3_set_authorizer(handle, refuse, Unmanaged.passRetained(self).toOpaque())
  }

  /// Whether the authorizer has refused a RELEASE.
  var hasRefused: Bool { left.load(ordering: .relaxed) < 1 }
}
