import UserStore
import UserStoreText

/// Encodes users as lines of an export.
struct UserEncoder {
  let format: TransferFormat
  /// The names of all further attributes; only CSV needs them.
  let attributes: [AttributeName]
  /// Whether to escape characters in CSV that control a terminal or disguise text; JSON has its own escapes.
  var isTerminal = false

  /// The header line of CSV; empty for JSON lines.
  var header: [UInt8] {
    format == .csv ? csv((["id"] + columns.map { TransferName.encode($0, .csv) }).map { Array($0.utf8) }) : []
  }

  func line(_ user: User) -> [UInt8] {
    switch format {
    case .jsonl:
      let members = user.orderedValues.map { name, value in
        (name: TransferName.encode(name, .jsonl), value: Self.member(value, of: name))
      }
      return JSON.object([("id", .integer(user.id.rawValue))] + members).bytes + [0x0A]
    case .csv:
      let fields = columns.map { CSVField.encode(user[stored: $0] ?? .null, of: $0) }
      return csv([Array(user.id.description.utf8)] + fields)
    }
  }

  /// The value of a member; a name or color that a write would refuse or change is marked.
  private static func member(_ value: StoredValue, of attribute: AttributeName) -> JSON {
    guard case .text(let text) = value, AttributeName.builtIn.contains(attribute), !value.isAccepted(for: attribute)
    else { return value.jsonValue }
    return StoredValue.invalidText(Array(text.utf8)).jsonValue
  }

  private func csv(_ fields: [[UInt8]]) -> [UInt8] {
    CSV.bytes(isTerminal ? fields.map { Array(String(decoding: $0, as: UTF8.self).shown.utf8) } : fields) + [0x0A]
  }

  private var columns: [AttributeName] { AttributeName.builtIn + attributes }
}
