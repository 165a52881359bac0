import UserStore
import UserStoreText

/// Attributes that no user had before the write, some of which are mistyped.
struct NewAttributes {
  /// One line for each attribute.
  private(set) var notes: [String] = []

  /// Notes the new attributes among those that are about to be set; `id` is nil for a user that is being added.
  mutating func look(
    at attributes: [AttributeName], of id: User.ID?, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    for attribute in attributes where !AttributeName.builtIn.contains(attribute) {
      // First the user's own attributes, which takes one lookup; to find that no user has one takes a scan of all users.
      if let id, try !transaction.storedValue(attribute, of: id).isNull { continue }
      if try transaction.hasAttribute(attribute) { continue }
      let known = try transaction.attributeNames + AttributeName.builtIn
      let question = Suggestion.question(for: attribute, among: known)
      notes.append("new attribute \"\(attribute.shown)\": no user had it before" + question.shown)
    }
  }
}
