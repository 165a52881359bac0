import UserStore
import UserStoreText

/// Fields in order, printable in every output format.
struct Record {
  var fields: [(name: String, value: StoredValue)]
  var isPurged = false
  /// The fields whose values stand in columns of other names, where lines have columns.
  var aliases: [String: String] = [:]

  var json: JSON { .record(fields, isPurged: isPurged) }

  /// The columns' fields, or all fields, separated by tabs; a missing field is empty.
  ///
  /// For a terminal, characters that control it or disguise text are escaped.
  func plain(_ columns: [String]? = nil, isTerminal: Bool) -> String {
    let values = columns.map { $0.map { self[$0] ?? .null } } ?? fields.map(\.value)
    return values.map { isTerminal ? $0.shown : $0.plain }.joined(separator: "\t")
  }

  func csv(_ columns: [String], isTerminal: Bool) -> String {
    let values = columns.map { self[$0] ?? .null }
    return CSV.line(values.map { isTerminal ? $0.shown : $0.bare })
  }

  /// The value of a field; names are compared by their bytes, as in the store.
  subscript(name: String) -> StoredValue? {
    fields.first { $0.name.hasSameBytes(as: aliases[name] ?? name) }?.value
  }
}

/// Comma-separated values, as in RFC 4180, with line feeds.
enum CSV {
  static func line(_ fields: [String]) -> String {
    String(decoding: bytes(fields.map { Array($0.utf8) }), as: UTF8.self)
  }

  /// Works on bytes: to Swift a quote followed by a combining accent is another character, to CSV it is a quote.
  static func bytes(_ fields: [[UInt8]]) -> [UInt8] {
    var line: [UInt8] = []
    for (index, field) in fields.enumerated() {
      if index > 0 { line.append(UInt8(ascii: ",")) }
      append(field, to: &line)
    }
    return line
  }

  private static func append(_ field: [UInt8], to line: inout [UInt8]) {
    guard field.contains(where: isSpecial) else { return line += field }
    line.append(quote)
    for byte in field {
      if byte == quote { line.append(quote) }
      line.append(byte)
    }
    line.append(quote)
  }

  private static let quote = UInt8(ascii: "\"")

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte == quote || byte == UInt8(ascii: ",") || byte == 0x0A || byte == 0x0D
  }
}

extension User {
  var record: Record { Record(fields: fields) }

  /// The id, the name, and the hair color, then `k=v` for each further attribute, so that the first three have fixed positions.
  var plainRecord: Record {
    Record(
      fields: fields.prefix(3)
        + fields.dropFirst(3).map { ($0.name, .text(ofBytes: Array(($0.name + "=").utf8) + $0.value.bareBytes)) })
  }

  /// The name for messages, with invalid bytes escaped.
  var shownName: String { (self[stored: .name] ?? .null).shown }
}

extension Timestamp {
  /// The local time of day: `05:20:11`.
  var localTime: String { localParts.time }

  /// The local date and time: `2026-11-21 05:20:11`.
  var local: String {
    let (date, time) = localParts
    return date + " " + time
  }

  private var localParts: (date: String, time: String) { parts(offset: System.utcOffset(atSecond: second)) }
}
