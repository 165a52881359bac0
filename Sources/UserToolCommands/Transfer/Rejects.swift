import UserStore
import UserStoreText

/// The bad records of an import that skips them.
///
/// With a file, they are written as JSON lines with the position, the reason, and the record's text, so that they can be
/// fixed and imported. Without a file, the first ones are reported as messages.
final class Rejects {
  private(set) var count = 0
  private let source: String
  private let path: String?
  private var descriptor: Int32?

  private static let reportedLimit = 20

  /// Prepares for the bad records of a file whose name in messages is `source`; `path` is a free name from `path(_:_:)`.
  init(of source: String, into path: String?) {
    self.source = source
    self.path = path
  }

  /// Returns the absolute path of a file for rejects, which must not exist.
  ///
  /// No pipe or device either: all other writers wait during an import, so writing must not block.
  static func path(_ file: String, _ common: CommonOptions) throws(Failure) -> String {
    let target = try common.writable(file)
    if target.content == .nothing { return target.path }
    throw Failure(.cannotCreate, "\(file) already exists", hint: "choose another file for --rejects")
  }

  deinit {
    if let descriptor { System.close(descriptor) }
  }

  func add(_ bad: BadRecord, text: ArraySlice<UInt8>?) throws(Failure) {
    count += 1
    if let path { return try write(bad, text, to: path) }
    if count <= Self.reportedLimit {
      Messages.shared.writeLine("usertool: skipped \(source.shown):\(bad.description.shown)")
    }
    if count == Self.reportedLimit + 1 {
      Messages.shared.writeLine("usertool: further skipped records are not reported; --rejects saves them all")
    }
  }

  private func write(_ bad: BadRecord, _ text: ArraySlice<UInt8>?, to path: String) throws(Failure) {
    let descriptor = if let known = self.descriptor { known } else { try System.createNew(path) }
    self.descriptor = descriptor
    let line = JSON.object([
      ("file", .text(source)), ("line", .integer(Int64(bad.line))),
      ("column", bad.column.map { .integer(Int64($0)) } ?? .null), ("reason", .text(bad.reason)),
      ("record", text.map { StoredValue.text(ofBytes: Array($0)).jsonValue } ?? .null),
    ])
    var writer = FileWriter(descriptor, name: path)
    try writer.write(line.bytes + [0x0A])
    try writer.flush()
  }
}
