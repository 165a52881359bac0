package import UserStore

/// The fields of a record.
package struct RecordContent: Sendable {
  /// A value of an attribute, or an id.
  package struct Field {
    package let name: AttributeName
    package let value: StoredValue
    /// Whether the name or the value is marked as one that another program may have stored.
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
  /// The attributes that are stored as they are, also where a write would refuse the value or change it.
  package let verbatim: Set<AttributeName>

  /// Checks the fields; throws for an id that is not valid, an unknown color, and an attribute that occurs twice.
  ///
  /// With `keepingColors`, the text of a color stays as it is, whatever it is.
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
    // Also zero and negative ids: other programs can store users with them, and these are exported.
    case .integer(let number): return User.ID(number)
    default: throw TextError(.value, "an id must be a whole number, not \(value.quoted)")
    }
  }
}
