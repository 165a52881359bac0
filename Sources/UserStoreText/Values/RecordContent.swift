package import UserStore

/// The fields of a record.
package struct RecordContent: Sendable {
  package let id: User.ID?
  /// Whether the fields have an id, which may be null.
  let hasID: Bool
  /// The values, one per attribute.
  package let values: [(attribute: AttributeName, value: StoredValue)]

  /// Checks the fields; throws for an id that is not valid, an unknown color, and an attribute that occurs twice.
  ///
  /// With `keepingColors`, the text of a color stays as it is, whatever it is.
  package init(
    _ fields: [(name: AttributeName, value: StoredValue)], keepingColors: Bool = false
  ) throws(TextError) {
    var id: User.ID?
    var values: [(attribute: AttributeName, value: StoredValue)] = []
    var known: Set<AttributeName> = []
    for (attribute, value) in fields {
      guard known.insert(attribute).inserted else { throw TextError(.value, "\"\(attribute)\" is given twice") }
      if attribute == "id" {
        id = try Self.id(value)
      } else if attribute == .hairColor, !keepingColors, case .text(let text) = value {
        values.append((attribute, try ColorText.color(text).storedValue))
      } else {
        values.append((attribute, value))
      }
    }
    self.id = id
    self.values = values
    hasID = known.contains("id")
  }

  private static func id(_ value: StoredValue) throws(TextError) -> User.ID? {
    switch value {
    case .null: return nil
    // Also zero and negative ids: other programs can store users with them, and these are exported.
    case .integer(let number): return User.ID(number)
    default: throw TextError(.value, "an id must be a whole number, not \(value.quoted)")
    }
  }
}
