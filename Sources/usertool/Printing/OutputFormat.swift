import ArgumentParser

/// The layouts.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// For people.
  case table
  /// A line a record, tabs between the fields.
  case plain
  /// One JSON text.
  case json
  /// A JSON object a line.
  case jsonl
  /// RFC 4180, with a line of names first.
  case csv
}
