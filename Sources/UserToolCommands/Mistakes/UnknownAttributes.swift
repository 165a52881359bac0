import UserStore
import UserStoreText

/// The requested attributes that no user has; most of them are mistyped.
struct UnknownAttributes {
  private let requested: [AttributeName]
  /// The attributes that no user read so far has.
  private var missing: [AttributeName]

  /// The largest number of users to read for a note if the list did not read them all.
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
  /// Reads all users only if the list did so too: if it is whole and used no index.
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

/// Attributes that no user had before the write; some are mistyped.
struct NewAttributes {
  private(set) var notes: [String] = []
  /// The attributes of an import that are already checked.
  private var seen: Set<AttributeName> = []
  /// All attributes before the first new one of an import.
  private var known: [AttributeName]?

  /// Notes the new attributes among those about to be set; `id` is nil for a user that is being added.
  mutating func look(
    at attributes: [AttributeName], of id: User.ID?, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    for attribute in attributes where !AttributeName.builtIn.contains(attribute) {
      // The user's own attributes take one lookup; finding that no user has one takes a scan.
      if let id, try !transaction.storedValue(attribute, of: id).isNull { continue }
      if try transaction.hasAttribute(attribute) { continue }
      let known = try transaction.attributeNames + AttributeName.builtIn
      note(attribute, Suggestion.question(for: attribute, among: known))
    }
  }

  /// Notes the new attributes of a record to import whose names resemble others.
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
