import UserStore

/// Attributes that a write makes because nobody had them until then: some of them are mistyped.
struct NewAttributes {
  /// A line for each.
  private(set) var notes: [String] = []

  /// Looks at what is about to be set, before it is.
  ///
  /// - Parameters:
  ///   - attributes: Their names.
  ///   - id: Whose; nil for a user who is only just added.
  ///   - transaction: Where they will be set.
  /// - Throws: what reading can throw.
  mutating func look(
    at attributes: [AttributeName], of id: User.ID?, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    for attribute in attributes where !AttributeName.builtIn.contains(attribute) {
      // Their own first, which is found at once: to see that nobody has one, all must be gone through.
      if let id, try !transaction.storedValue(attribute, of: id).isNull { continue }
      if try transaction.hasAttribute(attribute) { continue }
      let known = try transaction.attributeNames + AttributeName.builtIn
      let question = Suggestion.question(for: attribute, among: known)
      notes.append("new attribute \"\(attribute.shown)\": no user had it before" + question.shown)
    }
  }
}
