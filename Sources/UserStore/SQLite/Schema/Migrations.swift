/// The migrations of a file, from `/migrations`.
extension Migration {
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
}
