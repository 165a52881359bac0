import UserStore

/// Encodes users as lines of an export.
struct UserEncoder {
  let format: TransferFormat
  /// The names of all further attributes, which only CSV needs.
  let attributes: [AttributeName]

  /// The header line of CSV; empty for JSON lines.
  var header: [UInt8] {
    format == .csv ? CSV.bytes((["id"] + columns).map { Array($0.text.utf8) }) + [0x0A] : []
  }

  func line(_ user: User) -> [UInt8] {
    switch format {
    case .jsonl:
      let members = user.orderedValues.map { (name: $0.name.text, value: $0.value.losslessJSON) }
      return JSON.object([("id", .integer(user.id.rawValue))] + members).bytes + [0x0A]
    case .csv:
      let fields = columns.map { CSVField.encode(user[stored: $0] ?? .null, of: $0) }
      return CSV.bytes([Array(user.id.description.utf8)] + fields) + [0x0A]
    }
  }

  private var columns: [AttributeName] { AttributeName.builtIn + attributes }
}
