import Foundation
import Testing

@testable import UserStore

/// Repairing the -wal file after a sync that failed.
///
/// The torture checks that a power cut then damages nothing. These tests check which bytes are written again.
@Suite(.bounded, .serialized) struct WALFileTests {
  private static let pageSize = 4_096
  private static let frame = 24 + pageSize

  /// Linux's `SEEK_DATA`, which Swift's Glibc module does not have.
  private static let nextData: Int32 = 3

  private let folder: Folder
  private let path: String
  private let file: WALFile

  init() throws {
    folder = try Folder()
    path = try folder.file("users.db-wal")
    file = WALFile(path: path)
    try createFile(generation: 1)
  }

  @Test func `a synced file is not written again`() throws {
    try file.sync()
    file.didSync(frames: 300)
    #expect(try !isWritten(in: 1) && !isWritten(in: 299))
  }

  @Test func `after a failed sync, every sync fails until the file has been written again`() throws {
    try failSync()
    #expect(throws: SystemError.self) { try file.sync() }
    try file.writeAgain()
    #expect(try isWritten(in: 1) && isWritten(in: 299))
    try file.sync()
  }

  @Test func `frames that were synced before are not written again`() throws {
    try file.sync()
    file.didSync(frames: 200)
    try failSync()
    try file.writeAgain()
    #expect(try !isWritten(in: 1) && !isWritten(in: 198))
    #expect(try isWritten(in: 202) && isWritten(in: 299))
  }

  @Test func `a file that was restarted since the last sync is written from its beginning`() throws {
    try file.sync()
    file.didSync(frames: 200)
    try createFile(generation: 2)
    try failSync()
    try file.writeAgain()
    #expect(try isWritten(in: 1) && isWritten(in: 299))
  }

  @Test func `writing the file again does not change its contents`() throws {
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.seek(toOffset: UInt64(size(120)))
    try handle.write(contentsOf: Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }))
    let before = FileManager.default.contents(atPath: path)
    try failSync()
    try file.writeAgain()
    #expect(FileManager.default.contents(atPath: path) == before)
  }

  @Test func `a repair that fails in a checkpoint is retried when the store is closed`() throws {
    let pool = SessionPool(limit: 1) { () throws(StoreError) in
      SQLiteSession(try Connection(path: nil, access: .readWrite, busyTimeout: 0))
    }
    let checkpoints = Checkpoints(pool: pool, unsynced: file, patience: .zero)
    checkpoints.note(walPages: 300)
    try whileUnreachable { checkpoints.run() }
    #expect(throws: SystemError.self) { try file.sync() }
    let writer = SQLiteSession(try Connection(path: nil, access: .readWrite, busyTimeout: 0))
    let mayCopy = checkpoints.finish(on: writer, walPath: path)
    #expect(mayCopy)
    #expect(try isWritten(in: 1) && isWritten(in: 299))
    try file.sync()
  }

  @Test func `a repair that fails at the close is left to the next process that opens the store`() throws {
    let database = try folder.file("other.db")
    var configuration = Configuration()
    configuration.durability = .normal
    configuration.watchesOtherProcesses = false
    let store = try UserStore(path: database, configuration: configuration)
    try store.write { _ = try $0.add(name: "NIX") }
    let before = try Data(contentsOf: URL(filePath: database))
    try whileUnreachable(database + "-wal") { store.close() }
    #expect(try Data(contentsOf: URL(filePath: database)) == before)
    let next = try UserStore(path: database, configuration: configuration)
    #expect(try next.read { try $0.count() } == 1)
    next.close()
    #expect(try Data(contentsOf: URL(filePath: database)) != before)
    #expect(!FileManager.default.fileExists(atPath: database + "-wal"))
  }

  @Test func `a missing file needs no sync`() throws {
    try FileManager.default.removeItem(atPath: path)
    try file.sync()
    try file.writeAgain()
  }

  // MARK: Helpers

  private func size(_ frames: Int) -> Int { 32 + frames * Self.frame }

  /// Whether the file has data at the frame, and not a hole; holes start and end at block boundaries.
  private func isWritten(in frame: Int) throws -> Bool {
    let handle = try #require(FileHandle(forReadingAtPath: path))
    let offset = off_t(size(frame))
    return lseek(handle.fileDescriptor, offset, Self.nextData) == offset
  }

  /// Creates a file with a header and a hole of 300 frames, so that every write shows up as data.
  private func createFile(generation: UInt8) throws {
    var head: [UInt8] = Array(repeating: 0, count: 32)
    (head[10], head[23]) = (UInt8(Self.pageSize >> 8), generation)
    try Data(head).write(to: URL(filePath: path))
    try #require(FileHandle(forWritingAtPath: path)).truncate(atOffset: UInt64(size(300)))
  }

  /// Makes one sync fail: the file exists and cannot be opened.
  private func failSync() throws {
    try whileUnreachable { #expect(throws: SystemError.self) { try file.sync() } }
  }

  private func whileUnreachable(_ body: () -> Void) throws { try whileUnreachable(path, body) }

  private func whileUnreachable(_ path: String, _ body: () -> Void) throws {
    try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".aside")
    body()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
  }
}
