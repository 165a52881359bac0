import UserStore
import UserStoreText

/// The requested attributes that no user has, which are mostly mistyped.
struct UnknownAttributes {
  private let requested: [AttributeName]
  /// Those that no user had so far.
  private var missing: [AttributeName]

  /// At most so many users are read for a note about a list that does not read all users.
  private static let limit = 10_000

  init(_ attributes: [AttributeName]) {
    requested = attributes
    missing = []
    for name in attributes where name != "id" && !AttributeName.builtIn.contains(name) && !missing.contains(name) {
      missing.append(name)
    }
  }

  mutating func look(at user: User) {
    if !missing.isEmpty { missing.removeAll { user[stored: $0] != nil } }
  }

  /// One line for each attribute that no user has.
  ///
  /// Reads all users only if the list has done so too, which `isWhole` says: with an index, it has not.
  mutating func notes(_ transaction: inout ReadTransaction, isWhole: Bool) throws -> [String] {
    if missing.isEmpty { return [] }
    // An attribute with an index was not mistyped.
    let indexes = try transaction.indexes
    missing.removeAll { indexes.contains($0) }
    if missing.isEmpty { return [] }
    let hasReadAll = isWhole && !requested.contains { $0 == "id" || indexes.contains($0) }
    let (known, areAll) = hasReadAll ? (Set(try transaction.attributeNames), true) : try Self.sample(&transaction)
    let who = areAll ? "no user has" : "none of the first \(Self.limit) users has"
    return missing.filter { !known.contains($0) }.map { attribute in
      let question = Suggestion.question(for: attribute, among: known.union(AttributeName.builtIn))
      return ("\(who) \"\(attribute)\"" + question).shown
    }
  }

  /// The attributes of the first users, and whether these are all users.
  private static func sample(_ transaction: inout ReadTransaction) throws -> (names: Set<AttributeName>, areAll: Bool) {
    var names: Set<AttributeName> = []
    var count = 0
    try transaction.iterateUsers { user in
      count += 1
      names.formUnion(user.storedValues.keys)
      return count <= limit
    }
    return (names, count <= limit)
  }
}

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
