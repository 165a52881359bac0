import Foundation

/// The bytes of a store's files.
struct StoreFiles: Equatable {
  var database: Data
  var wal: Data?

  init(database: Data, wal: Data? = nil) {
    (self.database, self.wal) = (database, wal)
  }

  /// Reads the files in a folder.
  init(in folder: Folder) throws {
    database = try folder.bytes()
    wal = try? folder.bytes(folder.database + "-wal")
  }

  /// Replaces the store's files in a folder with these alone.
  func place(in folder: Folder) throws {
    for end in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: folder.database + end) }
    try database.write(to: URL(filePath: folder.database))
    try wal?.write(to: URL(filePath: folder.database + "-wal"))
  }
}
