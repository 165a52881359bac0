/// The formats of exports and imports.
enum TransferFormat: Equatable {
  case jsonl, csv

  /// The format of `--format`, else that of the file's extension; nil if there is neither.
  ///
  /// Throws for a format that cannot be imported.
  init?(_ format: OutputFormat?, path: String?) throws(Failure) {
    switch format {
    case .jsonl: self = .jsonl
    case .csv: self = .csv
    case .some(let other):
      throw Failure(
        .usage, "users can be exported and imported as jsonl or csv, not as \(other.rawValue)",
        hint: "usertool list supports the other formats")
    case nil:
      let name = path?.lowercased() ?? ""
      if name.hasSuffix(".csv") {
        self = .csv
      } else if [".jsonl", ".ndjson"].contains(where: name.hasSuffix) {
        self = .jsonl
      } else {
        return nil
      }
    }
  }
}
