import UserStore
import UserStoreText

/// Attributes that no user had before the write, some of which are mistyped.
struct NewAttributes {
  /// One line for each attribute.
  private(set) var notes: [String] = []
  /// The attributes of an import that were looked at.
  private var seen: Set<AttributeName> = []
  /// The attributes that users had before the first new one of an import.
  private var known: [AttributeName]?

  /// Notes the new attributes among those that are about to be set; `id` is nil for a user that is being added.
  mutating func look(
    at attributes: [AttributeName], of id: User.ID?, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    for attribute in attributes where !AttributeName.builtIn.contains(attribute) {
      // First the user's own attributes, which takes one lookup; to find that no user has one takes a scan of all users.
      if let id, try !transaction.storedValue(attribute, of: id).isNull { continue }
      if try transaction.hasAttribute(attribute) { continue }
      let known = try transaction.attributeNames + AttributeName.builtIn
      note(attribute, Suggestion.question(for: attribute, among: known))
    }
  }

  /// Notes the new attributes of a record that is about to be imported, if their names are nearly those of others.
  mutating func look(
    atImported attributes: some Sequence<AttributeName>, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    for attribute in attributes where !AttributeName.builtIn.contains(attribute) && seen.insert(attribute).inserted {
      // The names are read at most once, before the first of them is written.
      if known == nil {
        if try transaction.hasAttribute(attribute) { continue }
        known = try transaction.attributeNames + AttributeName.builtIn
      }
      let known = known ?? []
      let question = Suggestion.question(for: attribute, among: known)
      if !question.isEmpty, !known.contains(attribute) { note(attribute, question) }
    }
  }

  private mutating func note(_ attribute: AttributeName, _ question: String) {
    notes.append("new attribute \"\(attribute.shown)\": no user had it before" + question.shown)
  }
}
