/// Where an import comes from.
///
/// A write keeps all other writers waiting, so nothing is read in it that could stop for somebody else: what comes from
/// a pipe or a terminal is first copied into a temporary file, to its end.
struct Source: ~Copyable {
  /// What messages call it.
  let name: String
  /// In bytes.
  let size: Int64
  private let descriptor: Int32

  /// - Parameters:
  ///   - path: The file; `-` for standard input.
  ///   - keepsReading: Whether a line that is too long is passed over; otherwise it ends the reading, because it may have
  ///     no end.
  /// - Throws: `Failure` when there is no such file, and when it cannot be copied.
  init(_ path: String, keepsReading: Bool) throws(Failure) {
    let isStandardInput = path == "-"
    name = isStandardInput ? "stdin" : path
    let input = isStandardInput ? System.standardInput : try System.openInput(path)
    if let size = System.size(of: input) {
      (self.descriptor, self.size) = (input, size)
    } else {
      descriptor = try Self.spool(input, name, keepsReading: keepsReading)
      size = System.size(of: descriptor) ?? 0
    }
  }

  deinit {
    System.close(descriptor)
  }

  /// - Throws: `Failure` for a first line of CSV that names no attributes.
  func records(_ format: TransferFormat) throws(Failure) -> any RecordSource {
    let lines = LineReader(descriptor, name: name)
    return switch format {
    case .jsonl: JSONLines(lines)
    case .csv: try CSVRecords(lines)
    }
  }

  private static func spool(_ input: Int32, _ name: String, keepsReading: Bool) throws(Failure) -> Int32 {
    let spool = try System.openTemporary()
    var writer = FileWriter(spool, name: "a temporary file")
    var lines = LineLengths(limit: LineReader.defaultLimit)
    while true {
      guard let bytes = System.read(input, atMost: 1 << 18) else {
        throw Failure(.noInput, "cannot read \(name): \(System.lastError)")
      }
      if bytes.isEmpty { break }
      try writer.write(Array(lines.admit(bytes)))
      // Whoever reads the copy finds the line, and says where it is.
      if lines.hasTooLong, !keepsReading { break }
    }
    try writer.flush()
    System.rewind(spool)
    return spool
  }
}
