/// The destination of an export.
///
/// An export reads everything in one transaction, and the -wal file cannot be cleared until that ends. Writing inside it
/// must therefore not block: output for a pipe or a terminal is collected in a temporary file until the transaction is over.
enum Destination {
  case file(String, replacing: Bool)
  case standardOutput

  /// Calls `body` to write the export, and then delivers all of it; delivers nothing if `body` throws.
  ///
  /// Except if standard output is a file, which does not block: then it is written directly, and the exit status shows whether
  /// it is whole.
  func write(_ body: (inout FileWriter) throws -> Void) throws {
    switch self {
    case .file(let path, let replacing):
      try Self.write(path, replacing: replacing, body)
    case .standardOutput where System.size(of: System.standardOutput) != nil:
      try Self.write(to: System.standardOutput, name: "the output", body)
    case .standardOutput:
      let spool = try System.openTemporary()
      defer { System.close(spool) }
      try Self.write(to: spool, name: "a temporary file", body)
      try Self.copyOut(spool)
    }
  }

  private static func write(_ path: String, replacing: Bool, _ body: (inout FileWriter) throws -> Void) throws {
    let draft = "\(path).\(System.processID).tmp"
    let descriptor = try System.createNew(draft)
    do {
      defer { System.close(descriptor) }
      try write(to: descriptor, name: path, body)
      guard System.sync(descriptor) else { throw Failure(.failure, "cannot write \(path): \(System.lastError)") }
      try System.publish(draft, as: path, replacing: replacing)
    } catch {
      System.remove(draft)
      throw error
    }
  }

  private static func write(to descriptor: Int32, name: String, _ body: (inout FileWriter) throws -> Void) throws {
    var writer = FileWriter(descriptor, name: name)
    try body(&writer)
    try writer.flush()
  }

  private static func copyOut(_ spool: Int32) throws(Failure) {
    System.rewind(spool)
    let output = Output()
    while let bytes = System.read(spool, atMost: 1 << 16) {
      if bytes.isEmpty { return output.flush() }
      output.write(bytes)
    }
    throw Failure(.failure, "cannot read a temporary file: \(System.lastError)")
  }
}
