import Foundation
import Synchronization
import TortureSupport

/// Copies the raw rows of `changes` as they come: the reference for everything that anybody is told.
///
/// It is never killed, only closed while everybody is, so that the next one to open the file recovers it.
final class LogReader: Role, @unchecked Sendable {
  private(set) var log = LogCopy()
  private(set) var troubles = Troubles()
  private let copied = Mutex<LogCopy.Row?>(nil)
  private var salt: [UInt8] = []

  /// The last row that is copied, for any thread.
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

  /// What was committed before everybody was killed is still there, and the same.
  private func verifyLast(on connection: PlainConnection) throws {
    guard let last else { return }
    let nonce = try connection.value("SELECT nonce FROM changes WHERE seq = ?", [.integer(last.seq)])
    if nonce != .integer(last.nonce) { troubles.add("after all were killed, row \(last.seq) is another one or gone") }
  }

  /// Reads what is new.
  func read(_ connection: PlainConnection) throws {
    let sql = "SELECT \(LogCopy.columns) FROM changes WHERE seq > ? ORDER BY seq"
    let rows = try connection.run(sql, [.integer(log.end)])
    if rows.isEmpty { return }
    try log.append(rows)
    copied.withLock { $0 = log.rows.last }
  }

  /// How long the -wal file grows, and how often it is begun anew: its first salt changes then.
  private func noteFiles(of stage: Stage) {
    guard let file = FileHandle(forReadingAtPath: stage.database + "-wal") else { return }
    defer { try? file.close() }
    guard let header = try? file.read(upToCount: 24), header.count == 24 else { return }
    let next = Array(header[16..<20])
    if !salt.isEmpty, next != salt { stage.tally.add("checkpoints after which the -wal file began anew") }
    salt = next
    let size = (try? file.seekToEnd()) ?? 0
    stage.tally.raise("largest -wal file in KiB", to: Int(size) >> 10)
  }
}
