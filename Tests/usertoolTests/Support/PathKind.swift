import Foundation
import TestSupport
import Testing

/// What a path can lead to, when a program is about to write there.
enum PathKind: CaseIterable {
  case missing, newline, longName, longPath, missingFolder, removedFolder, trailingSlash
  case file, folder, device, disk, pipe, socket
  case linkToFile, danglingLink, linkToWAL, linkToDatabase
  case database, wal, shm, journal
  case hardLinkOfDatabase, hardLinkOfWAL, hardLinkOfSHM
  case walOfOther, shmOfOther, journalOfOther, walOfNone, shmOfNone, journalOfNone, besideWAL, besideJournal

  /// Creates what the path leads to, in an empty folder, and returns the path; `content` is that of an existing file.
  ///
  /// - Returns: nil if this process may not create it.
  func make(in folder: String, beside database: String, holding content: String) throws -> String? {
    let manager = FileManager.default
    func write(_ name: String) throws {
      try content.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
    }
    func link(to target: String) throws -> String {
      try manager.createSymbolicLink(atPath: folder + "/link", withDestinationPath: target)
      return folder + "/link"
    }
    func hardLink(_ target: String) throws -> String {
      try manager.linkItem(atPath: target, toPath: folder + "/other-name")
      return folder + "/other-name"
    }
    func node(_ type: mode_t, _ device: dev_t) -> String? {
      unsafe mknod(folder + "/node", type | 0o600, device) == 0 ? folder + "/node" : nil
    }
    func other(_ addition: String) throws -> String {
      try manager.copyItem(atPath: database + ".closed", toPath: folder + "/other.db")
      return folder + "/other.db" + addition
    }
    switch self {
    case .missing: return folder + "/new"
    case .newline: return folder + "/two\nlines"
    case .longName: return folder + "/" + String(repeating: "n", count: 250)
    case .longPath:
      let part = "/" + String(repeating: "p", count: 200)
      try manager.createDirectory(atPath: folder + part + part, withIntermediateDirectories: true)
      return folder + part + part + "/" + String(repeating: "n", count: 120)
    case .missingFolder: return folder + "/none/new"
    case .removedFolder: return "new"
    case .trailingSlash: return folder + "/new/"
    case .file:
      try write("file")
      return folder + "/file"
    case .folder: return folder
    case .device: return node(S_IFCHR, 0x103)
    case .disk: return node(S_IFBLK, 0x7FF)
    case .pipe: return unsafe mkfifo(folder + "/pipe", 0o600) == 0 ? folder + "/pipe" : nil
    case .socket: return try Self.bindSocket(folder + "/socket")
    case .linkToFile:
      try write("file")
      return try link(to: "file")
    case .danglingLink: return try link(to: "new")
    case .linkToWAL: return try link(to: database + "-wal")
    case .linkToDatabase: return try link(to: database)
    case .database: return database
    case .wal: return database + "-wal"
    case .shm: return database + "-shm"
    case .journal: return database + "-journal"
    case .hardLinkOfDatabase: return try hardLink(database)
    case .hardLinkOfWAL: return try hardLink(database + "-wal")
    case .hardLinkOfSHM: return try hardLink(database + "-shm")
    case .walOfOther: return try other("-wal")
    case .shmOfOther: return try other("-shm")
    case .journalOfOther: return try other("-journal")
    case .walOfNone: return folder + "/none.db-wal"
    case .shmOfNone: return folder + "/none.db-shm"
    case .journalOfNone: return folder + "/none.db-journal"
    case .besideWAL:
      try write("left-wal")
      return folder + "/left"
    case .besideJournal:
      try write("left-journal")
      return folder + "/left"
    }
  }

  private static func bindSocket(_ path: String) throws -> String? {
    let bound = try Workspace().finish([
      Child.python, "-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path,
    ])
    return bound.status == 0 ? path : nil
  }
}
