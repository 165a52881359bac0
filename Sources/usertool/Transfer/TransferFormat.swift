/// The layouts of exports and imports.
enum TransferFormat: Equatable {
  case jsonl, csv

  /// What `--format` says, else the end of the file's name; nil when neither does.
  ///
  /// - Throws: `Failure` for a layout that cannot be read back.
  init?(_ format: OutputFormat?, path: String?) throws(Failure) {
    switch format {
    case .jsonl: self = .jsonl
    case .csv: self = .csv
    case .some(let other):
      throw Failure(
        .usage, "users are exported and imported as jsonl or csv, not as \(other.rawValue)",
        hint: "usertool list has the other layouts")
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
