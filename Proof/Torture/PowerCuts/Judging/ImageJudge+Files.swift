import Foundation
import TortureSupport

/// Checks of the other files, and of the bytes of the database.
extension ImageJudge {
  mutating func judgeFiles() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for (name, index) in claims.saved { judgeCursorFile(name, notBefore: index) }
    for name in Set(names).union(claims.backups.keys) where name.hasPrefix("backup") && name.hasSuffix(".db") {
      do { try judgeBackup(name) } catch { verdict.expect(false, .backsUp, "\(name): \(error)") }
    }
    for user in claims.purged { judgeBytes(of: user, in: names) }
  }

  private mutating func judgeCursorFile(_ name: String, notBefore index: Int) {
    let text = (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? ""
    let point = history.point(at: text)
    verdict.expect((point ?? -1) >= index, .saves, "\(name) holds “\(text)”, but set \(index) was saved")
  }

  private mutating func judgeBackup(_ name: String) throws {
    let promised = claims.backups[name]
    guard FileManager.default.fileExists(atPath: folder + "/" + name) else {
      return verdict.expect(promised == nil, .backsUp, "\(name) is gone")
    }
    let connection = try PlainConnection(folder + "/" + name)
    let integrity = try connection.value("PRAGMA integrity_check") ?? .null
    verdict.expect(integrity == "ok", .backsUp, "\(name): \(integrity)")
    let head = try ImageLog(connection).head
    guard let point = history.point(at: head), point <= claims.begun else {
      return verdict.expect(false, .backsUp, "\(name) ends at \(head)")
    }
    verdict.expect(point >= promised ?? 0, .backsUp, "\(name) is older than announced: it ends at \(head)")
    verdict.expect(
      try LogCheck.tables(of: connection) == history.points[point].users, .backsUp, "\(name) holds other records")
  }

  /// Checks that a purged value is not in the database's files. (A purge does not reach backups.)
  private mutating func judgeBytes(of user: Int64, in names: [String]) {
    for value in history.texts(of: user) {
      for name in names where name.hasPrefix(Self.database) {
        let bytes = (try? Data(contentsOf: URL(filePath: folder + "/" + name))) ?? Data()
        verdict.expect(bytes.range(of: Data(value)) == nil, .purges, "\(name) holds values of user \(user)")
      }
    }
  }
}
