/// A line in which a process that may be killed at any moment reports what it has done.
///
/// What it announced must hold.
package enum Announcement: Equatable {
  /// A store was opened.
  case opened
  /// A write or another operation is about to start.
  case begun(String)
  /// A write returned; the cursor is the end of its change set.
  case written(String, cursor: String)
  /// Another operation returned.
  case done(String)
  /// An operation failed with an error code and a message.
  case failed(String, code: String, message: String)
  /// A listener or a feed received a change set.
  case told(AnnouncedSet)
  /// A consumer is about to acknowledge.
  case covering(consumer: String, cursor: String)
  /// A consumer's acknowledgment is on disk.
  case covered(consumer: String, cursor: String)
  /// A file with a cursor was written.
  case saved(file: String, cursor: String)
  /// A backup was created.
  case backedUp(path: String, cursor: String)
  /// The log was compacted up to a revision.
  case compacted(Int64)
  /// The values of a user are about to be purged, or have been purged.
  case purging(Int64), purged(Int64)
  case closed
  /// The process is about to exit.
  case ended
}

extension Announcement: CustomStringConvertible {
  package var description: String {
    switch self {
    case .opened: "opened"
    case .begun(let name): "begin \(name)"
    case .written(let name, let cursor): "written \(cursor) \(name)"
    case .done(let name): "done \(name)"
    case .failed(let name, let code, let message):
      "failed \(name) \(code) \(message.split(separator: "\n" as Character).joined(separator: " "))"
    case .told(let set): "set \(set)"
    case .covering(let consumer, let cursor): "covering \(consumer) \(cursor)"
    case .covered(let consumer, let cursor): "covered \(consumer) \(cursor)"
    case .saved(let file, let cursor): "saved \(cursor) \(file)"
    case .backedUp(let path, let cursor): "backup \(path) \(cursor)"
    case .compacted(let revision): "compacted \(revision)"
    case .purging(let user): "purging \(user)"
    case .purged(let user): "purged \(user)"
    case .closed: "closed"
    case .ended: "ended"
    }
  }

  /// Parses a line; nil if the line is truncated or is not an announcement.
  package init?(_ line: some StringProtocol) {
    let words = line.split(separator: " " as Character).map { String($0) }
    switch (words.first, words.count) {
    case ("opened", 1): self = .opened
    case ("begin", 2): self = .begun(words[1])
    case ("written", 3): self = .written(words[2], cursor: words[1])
    case ("done", 2): self = .done(words[1])
    case ("failed", 3...):
      self = .failed(words[1], code: words[2], message: words.dropFirst(3).joined(separator: " "))
    case ("set", 3...):
      guard let set = AnnouncedSet(words.dropFirst()) else { return nil }
      self = .told(set)
    case ("covering", 3): self = .covering(consumer: words[1], cursor: words[2])
    case ("covered", 3): self = .covered(consumer: words[1], cursor: words[2])
    case ("saved", 3): self = .saved(file: words[2], cursor: words[1])
    case ("backup", 3): self = .backedUp(path: words[1], cursor: words[2])
    case ("compacted", 2): self = .compacted(Int64(words[1]) ?? 0)
    case ("purging", 2): self = .purging(Int64(words[1]) ?? 0)
    case ("purged", 2): self = .purged(Int64(words[1]) ?? 0)
    case ("closed", 1): self = .closed
    case ("ended", 1): self = .ended
    default: return nil
    }
  }
}

/// A change set as a listener received it.
package struct AnnouncedSet: Hashable, CustomStringConvertible {
  package var cursor: String
  /// The origin that the writer passed; nil for a foreign writer.
  package var origin: String?
  package var changes: [AnnouncedChange]

  package init(cursor: String, origin: String?, changes: [AnnouncedChange]) {
    (self.cursor, self.origin, self.changes) = (cursor, origin, changes)
  }

  package var description: String {
    ([cursor, origin ?? "-"] + changes.map(\.description)).joined(separator: " ")
  }

  init?(_ words: some Collection<String>) {
    let changes = words.dropFirst(2).map { AnnouncedChange($0) }
    guard let cursor = words.first, let origin = words.dropFirst().first, !changes.contains(nil) else { return nil }
    self.init(cursor: cursor, origin: origin == "-" ? nil : origin, changes: changes.compactMap { $0 })
  }
}

/// A change as it was delivered: kind (`a`dded, `u`pdated, `r`emoved), user, attribute, old and new value.
package struct AnnouncedChange: Hashable, CustomStringConvertible {
  package var kind: String
  package var user: Int64
  package var attribute: [UInt8]
  package var old: PlainValue
  package var new: PlainValue

  package init(kind: String, user: Int64, attribute: [UInt8], old: PlainValue, new: PlainValue) {
    (self.kind, self.user, self.attribute, self.old, self.new) = (kind, user, attribute, old, new)
  }

  package var description: String {
    [kind, String(user), Hexadecimal.text(attribute), old.code, new.code].joined(separator: ":")
  }

  package init?(_ text: String) {
    let parts = text.split(separator: ":" as Character, omittingEmptySubsequences: false).map { String($0) }
    guard parts.count == 5, let user = Int64(parts[1]), let attribute = Hexadecimal.bytes(parts[2]),
      let old = PlainValue(code: parts[3]), let new = PlainValue(code: parts[4])
    else { return nil }
    self.init(kind: parts[0], user: user, attribute: attribute, old: old, new: new)
  }
}

extension PlainValue {
  /// The value as one word: a letter for its storage class, followed by its contents.
  package var code: String {
    switch self {
    case .null: "n"
    case .integer(let integer): "i\(integer)"
    case .real(let real): "r" + String(real.bitPattern, radix: 16)
    case .text(let bytes): "t" + Hexadecimal.text(bytes)
    case .blob(let bytes): "b" + Hexadecimal.text(bytes)
    }
  }

  package init?(code: String) {
    let rest = String(code.dropFirst())
    switch code.first {
    case "n" where rest.isEmpty: self = .null
    case "i":
      guard let integer = Int64(rest) else { return nil }
      self = .integer(integer)
    case "r":
      guard let bits = UInt64(rest, radix: 16) else { return nil }
      self = .real(Double(bitPattern: bits))
    case "t":
      guard let bytes = Hexadecimal.bytes(rest) else { return nil }
      self = .text(bytes)
    case "b":
      guard let bytes = Hexadecimal.bytes(rest) else { return nil }
      self = .blob(bytes)
    default: return nil
    }
  }
}

/// Converts bytes to and from hexadecimal digits, with plain loops because debug builds convert megabytes.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func bytes(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for digit in text.utf8 {
      let value: UInt8
      switch digit {
      case 0x30...0x39: value = digit - 0x30
      case 0x61...0x66: value = digit - 0x57
      default: return nil
      }
      if let first = high { bytes.append(first << 4 | value) }
      high = high == nil ? value : nil
    }
    return high == nil ? bytes : nil
  }
}
