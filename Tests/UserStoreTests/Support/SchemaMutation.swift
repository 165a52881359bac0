import Testing

/// The schema with one rule of its triggers taken out.
struct SchemaMutation: CustomTestStringConvertible {
  let testDescription: String
  private let replacements: [(old: String, new: String)]

  /// - Parameters:
  ///   - description: What is true of the schema then.
  ///   - replacements: The words of the rule, each with what stands in their place.
  init(_ description: String, _ replacements: (old: String, new: String)...) {
    testDescription = description
    self.replacements = replacements
  }

  /// - Throws: when the schema no longer has the words that the mutation is about.
  func applied(to schema: String) throws -> String {
    var mutant = schema
    for (old, new) in replacements {
      try #require(mutant.contains(old), "the schema no longer says: \(old)")
      mutant = mutant.replacing(old, with: new)
    }
    return mutant
  }
}
