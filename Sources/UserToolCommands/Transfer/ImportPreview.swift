import UserStore
import UserStoreText

/// The first users of a dry run as they would be stored.
enum ImportPreview {
  static func lines(of ids: [User.ID], in transaction: inout WriteTransaction) throws(StoreError) -> [String] {
    var lines: [String] = []
    for id in ids {
      guard let user = try transaction.user(id) else { continue }
      lines.append("user \(id)")
      let values = user.orderedValues.filter { !$0.value.isNull }
      let width = values.map { $0.name.shown.columns }.max() ?? 0
      for (name, value) in values {
        let type = Self.type(of: value).padded(to: "integer".count)
        lines.append("  \(name.shown.padded(to: width))  \(type)  \(value.quoted.limited(to: 200))")
      }
    }
    return lines
  }

  private static func type(of value: StoredValue) -> String {
    switch value {
    case .null: ""
    case .integer: "integer"
    case .real: "real"
    case .text: "text"
    case .blob: "bytes"
    case .invalidText: "text that is not valid UTF-8"
    }
  }
}
