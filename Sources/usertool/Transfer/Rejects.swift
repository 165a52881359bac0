import UserStore

/// What becomes of records that cannot be taken, when the import goes on without them.
///
/// Into a file they go as JSON lines with the place, the reason and the record as it was, so that it can be mended and
/// imported by itself; without a file the first ones are told.
final class Rejects {
  private(set) var count = 0
  private let source: String
  private let path: String?
  private var descriptor: Int32?

  private static let toldLimit = 20

  /// - Parameters:
  ///   - source: What messages call the file that is imported.
  ///   - path: Where the records go; nil for telling them.
  /// - Throws: `Failure` when something lies there already.
  init(of source: String, into path: String?) throws(Failure) {
    self.source = source
    self.path = path
    if let path, System.exists(path) {
      throw Failure(.cannotCreate, "\(path) is there already", hint: "name another file for the rejects")
    }
  }

  deinit {
    if let descriptor { System.close(descriptor) }
  }

  /// - Throws: `Failure` when the file cannot be written.
  func add(_ bad: BadRecord, text: ArraySlice<UInt8>?) throws(Failure) {
    count += 1
    if let path { return try write(bad, text, to: path) }
    if count <= Self.toldLimit { Messages.shared.say("usertool: skipped \(source.shown):\(bad.description.shown)") }
    if count == Self.toldLimit + 1 { Messages.shared.say("usertool: further ones are not told; --rejects keeps them") }
  }

  private func write(_ bad: BadRecord, _ text: ArraySlice<UInt8>?, to path: String) throws(Failure) {
    let descriptor = try opened(path)
    let line = JSON.object([
      ("file", .text(source)), ("line", .integer(Int64(bad.line))),
      ("column", bad.column.map { .integer(Int64($0)) } ?? .null), ("reason", .text(bad.reason)),
      ("record", text.map { StoredValue.text(ofBytes: Array($0)).losslessJSON } ?? .null),
    ])
    var writer = FileWriter(descriptor, name: path)
    try writer.write(line.bytes + [0x0A])
    try writer.flush()
  }

  private func opened(_ path: String) throws(Failure) -> Int32 {
    if let descriptor { return descriptor }
    let descriptor = try System.createNew(path)
    self.descriptor = descriptor
    return descriptor
  }
}
