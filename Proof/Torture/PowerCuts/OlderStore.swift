import Foundation
import TortureSupport

/// A store of the oldest version that is migrated, which is migrated when it is opened for writing.
struct OlderStore {
  private let image: DiskImage
  private let folder: String
  private let log: ImageLog

  /// Creates the store in a folder.
  init(in folder: String) throws {
    let sql = try String(contentsOfFile: "migrations/m0005_schema.sql", encoding: .utf8)
    let path = "\(folder)/\(ImageJudge.database)"
    self.folder = folder
    do {
      let connection = try PlainConnection(path)
      try connection.script(
        """
        PRAGMA page_size = 2048; BEGIN; \(sql);
        INSERT INTO migrations VALUES (5, 'schema', '\(Self.fingerprint(sql))');
        PRAGMA user_version = 5; PRAGMA application_id = 0x55735374;
        WITH RECURSIVE n (i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n WHERE i < 15)
        INSERT INTO users (id, name, hair_color) SELECT i, 'from before ' || i, '#101010' FROM n;
        COMMIT; PRAGMA journal_mode = WAL
        """)
      log = try ImageLog(connection)
    }
    image = try DiskImage(of: folder)
  }

  private static func fingerprint(_ sql: String) -> String {
    String(sql.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
  }

  /// A record of how the store was made: its synced files, and a set that was delivered.
  var record: [UInt8] {
    var bytes: [UInt8] = []
    for (name, content) in image.files {
      let path = "\(folder)/\(name)"
      bytes +=
        Recording.encoded("c", path) + Recording.encoded("w", path, content.values) + Recording.encoded("s", path)
    }
    let delivered = log.foreignSets.map { "\(Announcement.told($0))\n" }.joined()
    return bytes + Recording.encoded("D", folder)
      + Recording.encoded("a", "", Array("\(Announcement.opened)\n\(delivered)".utf8))
  }
}

extension Recording {
  /// A step in the format of the faults library.
  static func encoded(_ letter: Character, _ path: String, _ data: [UInt8] = []) -> [UInt8] {
    let name = Array(path.utf8)
    return Array(String(letter).utf8) + number(name.count, 2) + name + number(0, 8) + number(data.count, 8) + data
  }

  private static func number(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
