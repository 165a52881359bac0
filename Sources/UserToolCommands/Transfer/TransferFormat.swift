import UserStore
import UserStoreText

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

  /// The format of a new file: that of `--format`, else that of the file's extension, else JSON lines; throws if the extension
  /// means another format.
  init(_ format: OutputFormat?, exportingTo path: String?) throws(Failure) {
    let known = try TransferFormat(format, path: path)
    guard let path, let name = Self.nameAndExtension(of: path) else {
      self = known ?? .jsonl
      return
    }
    if let program = Self.compressors[name.extension] {
      let ofName = try TransferFormat(nil, path: name.name)
      let inner = known ?? ofName ?? .jsonl
      throw Failure(
        .usage, "an export is not compressed, but \(path) names a compressed file",
        hint: "\(CommandWords.again([], format: inner == .csv ? "csv" : "jsonl")) | \(program) > \(path.shellWord())")
    }
    guard let known else {
      throw Failure(
        .usage, "users are exported as JSON lines or CSV, but \(path) names another format",
        hint: "\(CommandWords.again(["\(name.name).jsonl"])), or choose a format: --format jsonl or --format csv")
    }
    self = known
  }

  private static let compressors = ["gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"]

  private static func nameAndExtension(of path: String) -> (name: String, extension: String)? {
    let file = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
    guard let dot = file.lastIndex(of: "."), dot > file.startIndex, file.index(after: dot) < file.endIndex else {
      return nil
    }
    return (String(path[..<dot]), file[file.index(after: dot)...].lowercased())
  }
}

/// The notation of attributes' names in exports.
///
/// `:=` marks the rest as the exact name, which another program may have stored although a write would refuse it.
enum TransferName {
  private static let mark = ":="

  static func encode(_ name: AttributeName, _ format: TransferFormat) -> String {
    let (read, isVerbatim) = decode(name.text, format)
    return !isVerbatim && read == name && name.isAccepted ? name.text : mark + name.text
  }

  /// Reads the name of a member or a column, and whether it is marked.
  ///
  /// In CSV, surrounding white space does not count, and in the names of built-in attributes neither does the case.
  static func decode(_ text: String, _ format: TransferFormat) -> (name: AttributeName, isVerbatim: Bool) {
    if text.utf8.starts(with: mark.utf8) { return (AttributeName(text.droppingBytes(mark.utf8.count)), true) }
    if format == .jsonl { return (AttributeName(typed: text), false) }
    let trimmed = text.trimmed
    let folded = trimmed.lowercased().replacing(" ", with: "_")
    let known = ["id": "id", "name": AttributeName.name, "hair_color": .hairColor, "hair-color": .hairColor]
    return (known[folded] ?? AttributeName(trimmed), false)
  }
}
