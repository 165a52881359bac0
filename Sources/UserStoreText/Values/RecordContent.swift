package import UserStore

package struct RecordContent: Sendable {
  package struct Field {
    package let name: AttributeName
    package let value: StoredValue
    /// Whether the name or the value is marked as possibly stored by another program.
    package var isVerbatim = false

    package init(_ name: AttributeName, _ value: StoredValue, isVerbatim: Bool = false) {
      self.name = name
      self.value = value
      self.isVerbatim = isVerbatim
    }
  }

  package let id: User.ID?
  /// Whether the fields have an id, which may be null.
  let hasID: Bool
  /// The values, one per attribute.
  package let values: [(attribute: AttributeName, value: StoredValue)]
  /// The attributes to store unchanged, even if a write would refuse or change the value.
  package let verbatim: Set<AttributeName>

  /// Checks the fields; throws for an id that is not valid, an unknown color, and an attribute that occurs twice.
  ///
  /// With `keepingColors`, a color may be any text.
  package init(_ fields: [Field], keepingColors: Bool = false) throws(TextError) {
    var id: User.ID?
    var values: [(attribute: AttributeName, value: StoredValue)] = []
    var known: Set<AttributeName> = []
    for field in fields {
      let (attribute, value) = (field.name, field.value)
      guard known.insert(attribute).inserted else { throw TextError(.value, "\"\(attribute)\" is given twice") }
      if attribute == "id" {
        id = try Self.id(value)
      } else if attribute == .hairColor, !keepingColors, !field.isVerbatim, case .text(let text) = value {
        values.append((attribute, try ColorText.color(text).storedValue))
      } else {
        values.append((attribute, value))
      }
    }
    self.id = id
    self.values = values
    verbatim = Set(fields.filter(\.isVerbatim).map(\.name))
    hasID = known.contains("id")
  }

  private static func id(_ value: StoredValue) throws(TextError) -> User.ID? {
    switch value {
    case .null: return nil
    // Allows zero and negative ids, which other programs can store and exports contain.
    case .integer(let number): return User.ID(number)
    default: throw TextError(.value, "an id must be a whole number, not \(value.quoted)")
    }
  }
}
