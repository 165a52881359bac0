/// A numbered step of the schema, compiled in from `/migrations`.
struct Migration: Sendable {
  let number: Int64
  let name: String
  let sql: String
  /// Reveals a migration that was edited after it was applied: 64-bit FNV-1a of the file, against mistakes and not attacks.
  let fingerprint: String

  /// All migrations in order; a new one is a file in `/migrations` and a line here.
  static let all = [
    Migration(1, "users_and_changes", PackageResources.m0001_users_and_changes_sql),
    Migration(2, "consumers", PackageResources.m0002_consumers_sql),
    Migration(3, "log_size", PackageResources.m0003_log_size_sql),
    Migration(4, "log_keys_and_search", PackageResources.m0004_log_keys_and_search_sql),
    Migration(5, "indexes", PackageResources.m0005_indexes_sql),
  ]

  /// The schema version that this library reads and writes.
  static var latest: Int64 { Int64(all.count) }

  private init(_ number: Int64, _ name: String, _ bytes: [UInt8]) {
    self.number = number
    self.name = name
    sql = String(decoding: bytes, as: UTF8.self)
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    fingerprint = String(hash, radix: 16)
  }
}
