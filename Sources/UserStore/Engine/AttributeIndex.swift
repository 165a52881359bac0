/// An index on the values of an attribute.
package struct AttributeIndex: Hashable, Sendable {
  package let attribute: AttributeName
  package let kind: Kind

  package enum Kind: Hashable, Sendable {
    case plain
    /// No two users have the same value.
    case unique
    /// No two users have the same value; the letters A to Z equal a to z.
    case uniqueIgnoringCase
  }

  package init(on attribute: AttributeName, _ kind: Kind = .plain) {
    self.attribute = attribute
    self.kind = kind
  }

  package init(uniqueOn attribute: AttributeName, ignoringCase ignoresCase: Bool) {
    self.init(on: attribute, ignoresCase ? .uniqueIgnoringCase : .unique)
  }

  package var isUnique: Bool { kind != .plain }
  package var ignoresCase: Bool { kind == .uniqueIgnoringCase }

  /// Whether two values are the same for the index.
  package func isEqual(_ left: StoredValue, _ right: StoredValue) -> Bool {
    if ignoresCase, case .text(let left) = left, case .text(let right) = right {
      return left.utf8.elementsEqual(right.utf8) { Self.lowercase($0) == Self.lowercase($1) }
    }
    return left.holds(.equal, right)
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
  }

  /// The number of attributes that can be unique: with SQLite, each costs some time with every write of any attribute.
  package static let uniqueLimit = 16
}

/// Collects the users who have the same value, from rows in the order of the values.
package struct ValueHolders {
  private let index: AttributeIndex
  private var current: (value: StoredValue, users: [User.ID])?
  private var isMore = true

  package init(of index: AttributeIndex) { self.index = index }

  /// Adds a row; if its value is another one, calls `body` with the value before.
  ///
  /// Returns whether `body` wants more.
  package mutating func add(_ user: User.ID, _ value: StoredValue, while body: (StoredValue, [User.ID]) -> Bool) -> Bool
  {
    if let group = current, index.isEqual(group.value, value) {
      current?.users.append(user)
      return true
    }
    end(body)
    current = (value, [user])
    return isMore
  }

  /// Calls `body` with the last value, unless it wants no more.
  package mutating func end(_ body: (StoredValue, [User.ID]) -> Bool) {
    if isMore, let current { isMore = body(current.value, current.users) }
  }
}

extension AttributeIndex {
  /// Throws `notUnique` with the first values that several users have, if `eachDuplicate` finds any.
  package func requireNoDuplicates(
    _ eachDuplicate: (AttributeIndex, (StoredValue, [User.ID]) -> Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    var (count, shown): (Int, [(value: StoredValue, users: [User.ID])]) = (0, [])
    try eachDuplicate(self) { value, users in
      count += 1
      if shown.count < StoreError.shownDuplicates { shown.append((value, users)) }
      return true
    }
    if count > 0 { throw .notUnique(attribute, shown, count: count) }
  }

  /// The error for one more unique attribute than there can be.
  package var hasNoRoom: StoreError {
    StoreError(
      .unsupported,
      "“\(attribute.text.excerpt)” cannot be unique: \(Self.uniqueLimit) attributes are, and each costs time with every write",
      hint: "make another one not unique (removeUnique)")
  }
}
