import Foundation

/// What a token says about the person who sends it: who it is, and what this person may read and write.
///
/// What the token does not say is denied. Only the lists of attributes are different: without one, there is no limit.
struct AccessClaims: Sendable, Equatable {
  /// The users that somebody may read, or write.
  enum Scope: Sendable, Equatable {
    case all
    case ids(Set<Int64>)

    static let none = Scope.ids([])

    func contains(_ id: Int64) -> Bool {
      switch self {
      case .all: true
      case .ids(let ids): ids.contains(id)
      }
    }

    func union(_ other: Scope) -> Scope {
      guard case .ids(let left) = self, case .ids(let right) = other else { return .all }
      return .ids(left.union(right))
    }
  }

  static let maximumIDs = 1_000
  static let maximumAttributes = 500

  /// The person: 1 to 100 Unicode scalars, as the origin of a change set, without control characters, in Unicode's form NFC.
  let subject: String
  /// The users that may be read, with all those that may be written.
  let read: Scope
  let write: Scope
  /// Whether the person may add users.
  let add: Bool
  /// The attributes that may be read, with all those of `writable`; nil: all attributes.
  let readable: [String]?
  /// The attributes that may be written, by default those of `readable`; nil: all attributes.
  let writable: [String]?

  /// Reads `sub` and `userstore`.
  ///
  /// Throws `notAccepted` with the mistake: a mistyped claim must neither grant nor deny anything.
  init(_ claims: [String: StrictJSON]) throws(AccessKeys.Refused) {
    subject = try Self.subject(claims["sub"])
    let members = try Self.members(claims["userstore"])
    let read = try Self.scope("read", members)
    write = try Self.scope("write", members)
    if read.count + write.count > Self.maximumIDs {
      throw .notAccepted("read and write have \(read.count + write.count) ids, and at most 1000 are allowed")
    }
    self.read = read.union(write)
    add = try Self.flag("add", members)
    let readable = try Self.attributes("readable", members)
    let writable = try Self.attributes("writable", members)
    let (count, limit) = ((readable ?? []).count + (writable ?? []).count, Self.maximumAttributes)
    if count > limit {
      throw .notAccepted("readable and writable have \(count) attributes, and at most \(limit) are allowed")
    }
    self.readable = readable.map { $0 + (writable ?? []).without($0) }
    self.writable = writable ?? readable
  }

  /// Checks a subject.
  ///
  /// Throws `notAccepted` for one that could not be the origin of a change set, or could look like another one.
  private static func subject(_ claim: StrictJSON?) throws(AccessKeys.Refused) -> String {
    guard let claim else { throw .notAccepted("sub is missing") }
    guard let subject = claim.text else { throw .notAccepted("sub is not a text") }
    guard (1...100).contains(subject.unicodeScalars.count) else {
      throw .notAccepted("sub must have 1 to 100 characters")
    }
    // Swift finds the two forms of an accented letter equal, and databases do not.
    guard subject.precomposedStringWithCanonicalMapping.utf8.elementsEqual(subject.utf8) else {
      throw .notAccepted("sub \"\(subject.excerpt)\" is not in Unicode's form NFC")
    }
    let lines: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
    if subject.unicodeScalars.contains(where: { lines.contains($0.properties.generalCategory) }) {
      throw .notAccepted("sub \"\(subject.excerpt)\" has a control character")
    }
    return subject
  }

  private static func members(_ claim: StrictJSON?) throws(AccessKeys.Refused) -> [String: StrictJSON] {
    guard let claim else { return [:] }
    guard case .object(let members) = claim else { throw .notAccepted("userstore is not an object") }
    let known: Set = ["read", "write", "add", "readable", "writable"]
    if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
      throw .notAccepted(
        "userstore has \"\(unknown.excerpt)\", which is none of read, write, add, readable, and writable")
    }
    return members
  }

  private static func scope(_ name: String, _ members: [String: StrictJSON]) throws(AccessKeys.Refused) -> Scope {
    guard let value = members[name] else { return .none }
    if value.text == "all" { return .all }
    guard case .list(let elements) = value else { throw .notAccepted("\(name) is neither \"all\" nor a list of ids") }
    var ids: Set<Int64> = []
    for element in elements {
      guard case .integer(let id) = element else {
        throw .notAccepted("\(name) has an id that is not a 64-bit integer")
      }
      guard ids.insert(id).inserted else { throw .notAccepted("\(name) has the id \(id) twice") }
    }
    return .ids(ids)
  }

  private static func flag(_ name: String, _ members: [String: StrictJSON]) throws(AccessKeys.Refused) -> Bool {
    guard let value = members[name] else { return false }
    guard case .bool(let flag) = value else { throw .notAccepted("\(name) is neither true nor false") }
    return flag
  }

  private static func attributes(
    _ name: String, _ members: [String: StrictJSON]
  ) throws(AccessKeys.Refused) -> [String]? {
    guard let value = members[name] else { return nil }
    guard let names = value.texts else { throw .notAccepted("\(name) is not a list of attributes") }
    var seen: Set<[UInt8]> = []
    for attribute in names {
      guard seen.insert(Array(attribute.utf8)).inserted else {
        throw .notAccepted("\(name) has \"\(attribute.excerpt)\" twice")
      }
      guard isAttribute(attribute) else {
        throw .notAccepted("\(name) has \"\(attribute.excerpt)\", which cannot be the name of an attribute")
      }
    }
    return names
  }

  /// Whether a user can have an attribute with this name (`AttributeName`).
  private static func isAttribute(_ name: String) -> Bool {
    (1...200).contains(name.unicodeScalars.count) && name != "id"
      && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}

extension AccessClaims.Scope {
  /// How many ids the scope names.
  fileprivate var count: Int {
    switch self {
    case .all: 0
    case .ids(let ids): ids.count
    }
  }
}

extension [String] {
  /// The texts that are not in another list, compared by their bytes, as names of attributes are.
  fileprivate func without(_ others: [String]) -> [String] {
    filter { text in !others.contains { $0.utf8.elementsEqual(text.utf8) } }
  }
}
