import CUserStoreSQLite
import Synchronization

/// Lets the next RELEASE of a connection fail, as it does without memory: its authorizer refuses it once.
///
/// Setting one lets SQLite prepare every statement anew, which is when it asks (sqlite.org/c3ref/set_authorizer.html).
@safe final class RefusedRelease: Sendable {
  private let left = Atomic(1)

  /// - Parameter handle: That of the connection, which keeps this object.
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

  /// Whether it has refused.
  var hasRefused: Bool { left.load(ordering: .relaxed) < 1 }
}
