extension UserStore {
  /// What of a store a listener listens to.
  public enum Topic: Hashable, Sendable {
    /// Every change.
    case everything
    /// Every change of one user.
    case user(User.ID)
    /// One attribute, by its name, of all users.
    case attributeOfAll(AttributeName)
    /// One attribute, by its name, of one user.
    case attributeOfUser(AttributeName, User.ID)

    /// One attribute of all users.
    ///
    /// - Parameter attribute: The attribute.
    /// - Returns: the topic.
    public static func attribute<Value>(_ attribute: Attribute<Value>) -> Topic { .attributeOfAll(attribute.name) }

    /// One attribute of one user.
    ///
    /// - Parameters:
    ///   - attribute: The attribute.
    ///   - id: The user.
    /// - Returns: the topic.
    public static func attribute<Value>(_ attribute: Attribute<Value>, of id: User.ID) -> Topic {
      .attributeOfUser(attribute.name, id)
    }

    /// Whether a change belongs to this topic.
    ///
    /// - Parameter change: The change.
    /// - Returns: whether a listener of this topic hears of it.
    public func contains(_ change: Change) -> Bool {
      switch self {
      case .everything: true
      case .user(let id): change.user == id
      case .attributeOfAll(let name): change.attribute == name
      case .attributeOfUser(let name, let id): change.user == id && change.attribute == name
      }
    }
  }
}

extension UserStore.Change {
  /// The topics that this change belongs to.
  var topics: [Topic] {
    [.attributeOfUser(attribute, user), .attributeOfAll(attribute), .user(user), .everything]
  }
}

package typealias Topic = UserStore.Topic
