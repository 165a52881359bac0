import Foundation
import Synchronization
import TortureSupport

/// Copies the raw rows of `changes` as they are committed.
///
/// The copy is the reference for everything that is delivered.
///
/// It is never killed, but it is closed when all others are killed, so that the next process to open the file recovers it.
final class LogReader: Role, @unchecked Sendable {
  private(set) var log = LogCopy()
  private(set) var troubles = Troubles()
  private let copied = Mutex<LogCopy.Row?>(nil)
  private var salt: [UInt8] = []

  /// The last row that was copied, readable from any thread.
  var last: LogCopy.Row? { copied.withLock { $0 } }

  func live(on stage: Stage) throws {
    let connection = try stage.look()
    try verifyLast(on: connection)
    while !stage.isOver {
      try read(connection)
      noteFiles(of: stage)
      usleep(3_000)
    }
  }

  /// Checks that the last row from before all were killed is unchanged.
  private func verifyLast(on connection: PlainConnection) throws {
    guard let last else { return }
    let nonce = try connection.value("SELECT nonce FROM changes WHERE seq = ?", [.integer(last.seq)])
    if nonce != .integer(last.nonce) { troubles.add("after all were killed, row \(last.seq) changed or is gone") }
  }

  /// Copies the new rows.
  func read(_ connection: PlainConnection) throws {
    let sql = "SELECT \(LogCopy.columns) FROM changes WHERE seq > ? ORDER BY seq"
    let rows = try connection.run(sql, [.integer(log.end)])
    if rows.isEmpty { return }
    try log.append(rows)
    copied.withLock { $0 = log.rows.last }
  }

  /// Notes the size of the -wal file, and whether it was restarted, which changes its first salt.
  private func noteFiles(of stage: Stage) {
    guard let file = FileHandle(forReadingAtPath: stage.database + "-wal") else { return }
    defer { try? file.close() }
    guard let header = try? file.read(upToCount: 24), header.count == 24 else { return }
    let next = Array(header[16..<20])
    if !salt.isEmpty, next != salt { stage.tally.add("restarts of the -wal file") }
    salt = next
    let size = (try? file.seekToEnd()) ?? 0
    stage.tally.raise("largest -wal file in KiB", to: Int(size) >> 10)
  }
}
