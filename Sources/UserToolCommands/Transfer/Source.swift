/// The source of an import.
///
/// All other writers wait during a write, so reading inside it must not block: a pipe or a terminal is first copied to a
/// temporary file, up to its end.
struct Source: ~Copyable {
  let name: String
  let size: Int64
  private let descriptor: Int32

  /// Opens a file, or standard input for `-`.
  ///
  /// With `keepsReading`, a line that is too long is skipped; otherwise it ends the copying, because it may be endless.
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

  /// The first bytes, by which files that cannot be imported are recognized.
  var start: [UInt8] { System.peek(descriptor, atMost: 1 << 12) }

  func records(_ format: TransferFormat, _ choices: CSVChoices) throws(Failure) -> any RecordSource {
    // JSON is UTF-8, unless a mark says otherwise.
    var decoder = TextDecoder(isGuessing: format == .csv)
    if let encoding = choices.encoding { decoder = try TextDecoder(encoding) }
    let lines = LineReader(descriptor, name: name, decoder: decoder)
    return switch format {
    case .jsonl: JSONLines(lines)
    case .csv: try CSVRecords(lines, choices)
    }
  }

  private static func spool(_ input: Int32, _ name: String, keepsReading: Bool) throws(Failure) -> Int32 {
    let (spool, temporary) = try System.openTemporary()
    var writer = FileWriter(spool, name: temporary, hint: System.temporaryHint)
    var lines = LineLengths(limit: LineReader.defaultLimit)
    while true {
      guard let bytes = System.read(input, atMost: 1 << 18) else {
        throw Failure(.noInput, "cannot read \(name): \(System.lastError)")
      }
      if bytes.isEmpty { break }
      try writer.write(Array(lines.admit(bytes)))
      // The copy's reader finds the line and reports its position.
      if lines.hasTooLong, !keepsReading { break }
    }
    try writer.flush()
    System.rewind(spool)
    return spool
  }
}

/// Measures lines as they arrive, so that an endless line neither fills the disk nor blocks the import.
private struct LineLengths {
  let limit: Int
  /// The length of the last, incomplete line.
  var length = 0
  private(set) var hasTooLong = false

  /// Measures the next piece, and returns it without the bytes that continue a line that is already too long.
  mutating func admit(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let start = length > limit ? System.firstLineFeed(in: bytes, from: 0) ?? bytes.count : 0
    var position = 0
    while let end = System.firstLineFeed(in: bytes, from: position) {
      add(end - position)
      length = 0
      position = end + 1
    }
    add(bytes.count - position)
    return bytes[start...]
  }

  private mutating func add(_ count: Int) {
    length += count
    if length > limit { hasTooLong = true }
  }
}
