/// The migrations of a file, from `/migrations`.
extension Migration {
  /// All migrations in order; a new one is a file in `/migrations` and a line here.
  ///
  /// The first makes version 5 as a whole. Files of this version were made by five earlier migrations, and have the same objects.
  static let all = [
    Migration(5, "schema", PackageResources.m0005_schema_sql),
    Migration(6, "notes", PackageResources.m0006_notes_sql),
    Migration(7, "unique", PackageResources.m0007_unique_sql),
  ]

  /// The oldest schema version that can be migrated.
  static var oldest: Int64 { all[0].number }

  /// The schema version that this library reads and writes.
  static var latest: Int64 { all[all.count - 1].number }

  /// The newest schema version that this library knows: `latest`, or that of a file with a part.
  static var newest: Int64 { max(latest, SchemaPart.newestVersion) }
}
