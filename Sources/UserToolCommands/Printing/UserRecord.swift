import UserStore
import UserStoreText

extension User {
  /// The id, then one field per attribute.
  var record: Record { Record(fields: fields) }

  /// The id, the name, the hair color, then `k=v` for each further attribute, so that the first three have fixed positions.
  var plainRecord: Record {
    Record(
      fields: fields.prefix(3)
        + fields.dropFirst(3).map { ($0.name, .text(ofBytes: Array(($0.name + "=").utf8) + $0.value.bareBytes)) })
  }

  /// The name for messages, with invalid bytes escaped.
  var shownName: String { (self[stored: .name] ?? .null).shown }
}
