import ArgumentParser

enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// A layout for people.
  case table
  /// One line per record, with tabs between the fields.
  case plain
  /// One JSON text.
  case json
  /// One JSON object per line.
  case jsonl
  /// RFC 4180, with a header line.
  case csv
}
