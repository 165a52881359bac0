import UserStore

/// The destination of an export.
///
/// An export reads everything in one transaction, and the -wal file cannot be reset until that ends. Writing inside the
/// transaction must therefore not block: output for a pipe or a terminal goes to a temporary file first.
enum Destination {
  case file(WritablePath, replacing: Bool)
  case standardOutput

  /// Whether a file is written in one step, from a draft that must be removed on failure.
  var hasDraft: Bool { if case .file(let target, _) = self { target.content != .stream } else { false } }

  /// Whether a person may read the output on a terminal, which nothing in it may control.
  var isTerminal: Bool {
    switch self {
    case .standardOutput: System.isTerminal(System.standardOutput)
    case .file(let target, _): target.content == .stream && System.isTerminal(target.path)
    }
  }

  /// Delivers what `body` writes, all of it after `body` returns, and nothing if it throws.
  ///
  /// Standard output that is a file does not block, so it is written directly; the exit status shows whether it is complete.
  func write(_ body: (inout FileWriter) throws -> Void) throws {
    switch self {
    case .file(let target, _) where target.content == .stream:
      try Self.collect(body) { spool throws(Failure) in try Self.copy(spool, to: target) }
    case .file(let target, let replacing):
      try Self.write(target.path, replacing: replacing, body)
    case .standardOutput where System.size(of: System.standardOutput) != nil:
      try Self.write(to: System.standardOutput, name: "the output", body)
    case .standardOutput:
      try Self.collect(body, Self.copyOut)
    }
  }

  private static func write(_ path: String, replacing: Bool, _ body: (inout FileWriter) throws -> Void) throws {
    try System.writeDraft(of: path, replacing: replacing) { descriptor in
      try write(to: descriptor, name: path, body)
      guard System.sync(descriptor) else { throw Failure(.failure, "cannot write \(path): \(System.lastError)") }
    }
  }

  private static func write(
    to descriptor: Int32, name: String, hint: String? = nil, _ body: (inout FileWriter) throws -> Void
  ) throws {
    var writer = FileWriter(descriptor, name: name, hint: hint)
    try body(&writer)
    try writer.flush()
  }

  private static func collect(
    _ body: (inout FileWriter) throws -> Void, _ deliver: (Int32) throws(Failure) -> Void
  ) throws {
    let (spool, name) = try System.openTemporary()
    defer { System.close(spool) }
    try write(to: spool, name: name, hint: System.temporaryHint, body)
    System.rewind(spool)
    try deliver(spool)
  }

  private static func copyOut(_ spool: Int32) throws(Failure) {
    let output = Output()
    try forEachPiece(of: spool) { bytes in output.write(bytes) }
    output.flush()
  }

  /// Copies to a pipe, a device, or the file to which the output is redirected; opening a pipe waits for its reader.
  private static func copy(_ spool: Int32, to target: WritablePath) throws(Failure) {
    let stream = if let output = target.descriptor { output } else { try System.openStream(target.path) }
    defer { if target.descriptor == nil { System.close(stream) } }
    var writer = FileWriter(stream, name: target.path)
    try forEachPiece(of: spool) { bytes throws(Failure) in try writer.write(bytes) }
    try writer.flush()
  }

  private static func forEachPiece(of spool: Int32, _ body: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    while let bytes = System.read(spool, atMost: 1 << 16) {
      if bytes.isEmpty { return }
      try body(bytes)
    }
    throw Failure(.failure, "cannot read a temporary file: \(System.lastError)")
  }
}

/// Writes to a descriptor in large pieces.
struct FileWriter: ~Copyable {
  private let descriptor: Int32
  private let name: String
  private let hint: String?
  private var pending: [UInt8] = []

  private static let capacity = 1 << 18

  init(_ descriptor: Int32, name: String, hint: String? = nil) {
    self.descriptor = descriptor
    self.name = name
    self.hint = hint
  }

  mutating func write(_ bytes: [UInt8]) throws(Failure) {
    pending += bytes
    if pending.count >= Self.capacity { try flush() }
  }

  mutating func flush() throws(Failure) {
    guard System.writeAll(pending, to: descriptor) else {
      throw Failure(.failure, "cannot write \(name): \(System.lastError)", hint: hint)
    }
    pending.removeAll(keepingCapacity: true)
  }
}
