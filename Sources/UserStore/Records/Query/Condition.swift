extension UserStore {
  /// A condition on the attributes of a user.
  ///
  ///     let adults: UserStore.Condition = .age >= 18 && .hairColor == UserStore.Color("auburn")
  ///     let named = Attribute.name.hasPrefix("Z") || !Attribute.age.exists
  ///
  /// - **Two values**: a condition is true or false, as in Swift. A comparison with an attribute that is not set is false, and its
  ///   negation is true. (In SQL, both are null.)
  /// - **Classes**: numbers are compared only with numbers, text with text, and blobs with blobs. Any other comparison is false:
  ///   `.age >= 18` is false for the text "36", which another program may have stored.
  /// - **Numbers** are compared exactly: 1 equals 1.0, and 9223372036854775807 is less than 9.223372036854775807e18, which is
  ///   2⁶³.
  /// - **Text** is compared by its UTF-8 bytes, as in SQLite: neither case nor accents are ignored. For the order of a language,
  ///   store a sort key as an attribute of its own. Only `containsIgnoringCase` ignores case.
  ///
  /// No user needs to have the attributes of a condition. A condition that no user can meet is allowed.
  ///
  /// The parts of a condition (`&&`, `||`, `!`) can be nested at most 20 times; a chain of the same operator is one part. A
  /// condition that is nested deeper forgets its parts while it is built, and every query with it throws
  /// `StoreError.Code.badValue`.
  public struct Condition: Hashable, Sendable {
    /// A comparison of an attribute with a value.
    public enum Comparison: Hashable, Sendable, CaseIterable {
      /// The attribute has this value.
      case equal
      /// The attribute does not have this value; also true if it is not set.
      case notEqual
      /// The attribute is less than the value.
      case less
      /// The attribute is less than the value, or equal to it.
      case lessOrEqual
      /// The attribute is greater than the value.
      case greater
      /// The attribute is greater than the value, or equal to it.
      case greaterOrEqual
      /// The attribute is a text that starts with the value, compared byte by byte.
      case startsWith
      /// The attribute is a text that contains the value, compared byte by byte.
      case contains
      /// The attribute is a text that contains the value, in which each letter is also found in its other case.
      ///
      /// Two characters are the cases of one letter if each is the only upper or lower case of the other in Unicode, in every
      /// language: Ë is found as ë, but not as e, ß not as SS, and the Turkish İ and ı not as i. The value has at most 200
      /// characters. One that is not valid UTF-8 is compared byte by byte.
      case containsIgnoringCase
    }

    package indirect enum Node: Hashable, Sendable {
      /// True if all are; so it is true without any.
      case all([Node])
      /// True if one is; so it is false without any.
      case any([Node])
      case not(Node)
      case comparison(AttributeName, Comparison, StoredValue)
      case isOneOf(AttributeName, [StoredValue])
      case exists(AttributeName)
      /// The same as its part, which is tested before all other parts of a query.
      case first(Node)
    }

    package let node: Node
    /// Whether the parts were nested too deeply; then the condition has none.
    ///
    /// Checked here and not when a query runs: hashing, comparing, and releasing nested parts takes stack for each level, and
    /// an operator cannot throw.
    let isTooDeep: Bool

    /// Creates a condition from a node that is made of the parts of `conditions`.
    init(_ node: Node, of conditions: [Condition] = []) {
      isTooDeep = conditions.contains(where: \.isTooDeep) || node.depth > Limits.conditionDepth
      self.node = isTooDeep ? .any([]) : node
    }

    /// Creates a comparison with an attribute whose name is known only at run time.
    ///
    /// - Parameters:
    ///   - attribute: The name of the attribute; `id` for the identifier.
    ///   - comparison: How the attribute is compared.
    ///   - value: The value to compare with. With `null`, `.equal` is true if the attribute is not set, `.notEqual` if it is
    ///     set, and the others are always false.
    public init(_ attribute: AttributeName, _ comparison: Comparison, _ value: StoredValue) {
      let node: Node =
        switch (comparison, value) {
        case (.equal, .null): .not(.exists(attribute))
        case (.notEqual, .null): .exists(attribute)
        case (.notEqual, _): .not(.comparison(attribute, .equal, value))
        default: .comparison(attribute, comparison, value)
        }
      self.init(node)
    }

    /// Returns the condition that an attribute has one of some values; without any value, no user meets it.
    ///
    /// A `null` among the values has no effect.
    public static func isOneOf(_ attribute: AttributeName, _ values: some Sequence<StoredValue>) -> Condition {
      Condition(.isOneOf(attribute, Array(values)))
    }

    /// Returns the condition that an attribute is set.
    public static func exists(_ attribute: AttributeName) -> Condition { Condition(.exists(attribute)) }

    /// The condition that all users meet.
    public static var always: Condition { Condition(.all([])) }

    /// The same condition, tested before those that it is combined with by `&&`.
    ///
    /// A query then reads nothing of other users, so that how long it takes says nothing about them. That has a price: the users who meet
    /// this condition are all found first, and no index finds those who meet the rest.
    package var testedFirst: Condition { Condition(.first(node), of: [self]) }

    /// The attributes that the condition mentions, with `id` for the identifier.
    public var attributes: Set<AttributeName> { Set(node.attributes) }

    /// The number of comparisons that search in a text: each of them reads all of a value.
    public var searchCount: Int { node.searchCount }

    /// Returns the condition that both conditions are true.
    public static func && (left: Condition, right: Condition) -> Condition {
      Condition(.all(left.node.parts(of: .all) + right.node.parts(of: .all)), of: [left, right])
    }

    /// Returns the condition that at least one of two conditions is true.
    public static func || (left: Condition, right: Condition) -> Condition {
      Condition(.any(left.node.parts(of: .any) + right.node.parts(of: .any)), of: [left, right])
    }

    /// Returns the condition that a condition is false.
    public static prefix func ! (condition: Condition) -> Condition {
      if case .not(let node) = condition.node { return Condition(node) }
      return Condition(.not(condition.node), of: [condition])
    }
  }
}

extension UserStore.Condition.Node {
  /// How deeply its parts are nested; 0 without parts.
  var depth: Int {
    switch self {
    case .all(let parts), .any(let parts): parts.map { $0.depth + 1 }.max() ?? 0
    case .not(let part), .first(let part): part.depth + 1
    case .comparison, .isOneOf, .exists: 0
    }
  }

  /// The attributes that it mentions, possibly several times.
  var attributes: [AttributeName] {
    switch self {
    case .all(let parts), .any(let parts): parts.flatMap(\.attributes)
    case .not(let part), .first(let part): part.attributes
    case .comparison(let attribute, _, _), .isOneOf(let attribute, _), .exists(let attribute): [attribute]
    }
  }

  var searchCount: Int {
    switch self {
    case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.searchCount }
    case .not(let part), .first(let part): part.searchCount
    case .comparison(_, .contains, _), .comparison(_, .containsIgnoringCase, _): 1
    case .comparison, .isOneOf, .exists: 0
    }
  }

  /// The users of whom a query reads something, if not of all: those who meet one of these conditions.
  package var selected: [Self]? {
    switch self {
    case .first(let part):
      let parts = part.parts(of: .any)
      return parts.isEmpty ? [part] : parts
    case .all(let parts):
      for case .first(let part) in parts { return Self.first(part).selected }
      return nil
    default: return nil
    }
  }

  enum Junction {
    case all, any
  }

  /// The parts of a junction of this kind; any other node is its only part.
  func parts(of junction: Junction) -> [Self] {
    switch (self, junction) {
    case (.all(let parts), .all), (.any(let parts), .any): parts
    default: [self]
    }
  }
}

package typealias Condition = UserStore.Condition
