import Testing

/// The schema without one rule of its triggers.
struct SchemaMutation: CustomTestStringConvertible {
  let testDescription: String
  private let replacements: [(old: String, new: String)]

  /// - Parameters:
  ///   - description: What is true of the changed schema.
  ///   - replacements: The text of the rule, and the text that replaces it.
  init(_ description: String, _ replacements: (old: String, new: String)...) {
    testDescription = description
    self.replacements = replacements
  }

  /// The changed schema.
  ///
  /// - Throws: If the schema no longer has the text to replace.
  func applied(to schema: String) throws -> String {
    var mutant = schema
    for (old, new) in replacements {
      try #require(mutant.contains(old), "the schema no longer says: \(old)")
      mutant = mutant.replacing(old, with: new)
    }
    return mutant
  }
}
