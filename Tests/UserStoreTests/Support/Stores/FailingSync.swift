import CUserStoreSQLite
import Synchronization
import Testing

@testable import UserStore

/// Counts the syncs of a connection's -wal file, which are its commits under `synchronous=FULL`, and makes them fail.
///
/// The file gets a copy of its table of methods in which one method is replaced. The copy is never freed, because the
/// connection may outlive the test.
@safe final class FailingSync: Sendable {
  private let code = Atomic(SQLITE_OK)
  private let calls = Atomic(0)

  /// The number of syncs.
  var count: Int { calls.load(ordering: .sequentiallyConsistent) }

  /// Whether syncs fail, so that it is unknown what is on disk.
  var isFailing: Bool {
    get { code.load(ordering: .sequentiallyConsistent) != SQLITE_OK }
    set { fail(newValue ? SQLITE_IOERR | (4 << 8) : SQLITE_OK) }
  }

  /// Makes syncs fail with a code of your choice.
  func fail(_ code: Int32) { self.code.store(code, ordering: .sequentiallyConsistent) }

  /// - Parameter handle: The handle of the writer's connection, which must have its -wal file open.
  /// - Throws: If SQLite has no such file.
  init(on handle: OpaquePointer) throws {
    var opened: UnsafeMutablePointer<sqlite3_file>?
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &opened)
    let file = try unsafe #require(opened)
    let original = try unsafe #require(file.pointee.pMethods)
    let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: Methods(table: original.pointee, original: original, sync: .passRetained(self)))
    unsafe methods.pointee.table.xSync = { file, flags in
      let methods = unsafe UnsafeRawPointer(file!.pointee.pMethods!).assumingMemoryBound(to: Methods.self)
      let sync = unsafe methods.pointee.sync.takeUnretainedValue()
      sync.calls.add(1, ordering: .sequentiallyConsistent)
      let code = sync.code.load(ordering: .sequentiallyConsistent)
      return code != SQLITE_OK ? code : unsafe methods.pointee.original.pointee.xSync(file, flags)
    }
    unsafe file.pointee.pMethods = UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self)
  }
}

/// A table of file methods, followed by what the replaced method needs.
@unsafe private struct Methods {
  var table: sqlite3_io_methods
  let original: UnsafePointer<sqlite3_io_methods>
  let sync: Unmanaged<FailingSync>
}
