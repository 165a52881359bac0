import Foundation

/// The files of a store as bytes, and what becomes of them.
struct StoreFiles: Equatable {
  var database: Data
  var wal: Data?

  init(database: Data, wal: Data? = nil) {
    (self.database, self.wal) = (database, wal)
  }

  /// What lies in the folder now.
  init(in folder: Folder) throws {
    database = try folder.bytes()
    wal = try? folder.bytes(folder.database + "-wal")
  }

  /// Puts them into a folder in the place of what was there, and nothing beside them.
  func place(in folder: Folder) throws {
    for end in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: folder.database + end) }
    try database.write(to: URL(filePath: folder.database))
    try wal?.write(to: URL(filePath: folder.database + "-wal"))
  }
}
