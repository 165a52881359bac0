import CSQLite
import Synchronization
import Testing

@testable import UserStore

/// Lets the syncs of a connection's -wal file fail while `isFailing`.
///
/// The file gets a table of methods of which one is ours; it is never freed, because the connection may outlive the test.
@safe final class FailingSync: Sendable {
  private let failing = Atomic(false)

  var isFailing: Bool {
    get { failing.load(ordering: .sequentiallyConsistent) }
    set { failing.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// - Parameter handle: That of the writer's connection, which has its -wal file open.
  /// - Throws: when SQLite does not show its file.
  init(on handle: OpaquePointer) throws {
    var opened: UnsafeMutablePointer<sqlite3_file>?
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &opened)
    let file = try unsafe #require(opened)
    let original = try unsafe #require(file.pointee.pMethods)
    let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: Methods(table: original.pointee, original: original, sync: .passRetained(self)))
    unsafe methods.pointee.table.xSync = { file, flags in
      let methods = unsafe UnsafeRawPointer(file!.pointee.pMethods!).assumingMemoryBound(to: Methods.self)
      if unsafe methods.pointee.sync.takeUnretainedValue().isFailing { return SQLITE_IOERR | (4 << 8) }
      return unsafe methods.pointee.original.pointee.xSync(file, flags)
    }
    unsafe file.pointee.pMethods = UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self)
  }
}

/// A table of file methods, with what ours needs right behind it.
@unsafe private struct Methods {
  var table: sqlite3_io_methods
  let original: UnsafePointer<sqlite3_io_methods>
  let sync: Unmanaged<FailingSync>
}
