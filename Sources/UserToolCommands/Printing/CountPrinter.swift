import UserStore

/// Prints a number of users, or one after the other.
struct CountPrinter {
  private let format: OutputFormat
  private let isArray: Bool
  private let output = Output()
  private var hasPrinted = false

  /// Creates a printer; `isArray` tells whether several numbers in the format `json` follow.
  init(_ format: OutputFormat, isArray: Bool) {
    self.format = format
    self.isArray = isArray
  }

  mutating func print(_ count: Int) {
    let json = JSON.object([("count", .integer(Int64(count)))]).description
    switch format {
    case .table, .plain: output.writeLine(String(count))
    case .json where isArray: output.write(Array(((hasPrinted ? ",\n" : "[\n") + json).utf8))
    case .json, .jsonl: output.writeLine(json)
    case .csv: output.writeLine((hasPrinted ? "" : "count\n") + String(count))
    }
    hasPrinted = true
    output.flush()
  }

  /// Ends the output, after the last number.
  func end() {
    if isArray, format == .json { output.writeLine(hasPrinted ? "\n]" : "[]") }
    output.flush()
  }
}
