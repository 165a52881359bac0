extension UserStore {
  /// What of a store a listener listens to.
  public enum Topic: Hashable, Sendable {
    /// Every change.
    case everything
    /// Every change of one user.
    case user(User.ID)
    /// One attribute, by its name, of all users.
    case attributeOfAll(String)
    /// One attribute, by its name, of one user.
    case attributeOfUser(String, User.ID)

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

    /// Compares attribute names by their UTF-8 bytes, as SQLite does.
    public static func == (left: Topic, right: Topic) -> Bool {
      switch (left, right) {
      case (.everything, .everything): true
      case (.user(let left), .user(let right)): left == right
      case (.attributeOfAll(let left), .attributeOfAll(let right)): left.hasSameBytes(as: right)
      case (.attributeOfUser(let left, let leftID), .attributeOfUser(let right, let rightID)):
        leftID == rightID && left.hasSameBytes(as: right)
      default: false
      }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
      switch self {
      case .everything: hasher.combine(0)
      case .user(let id): hasher.combine(id)
      case .attributeOfAll(let name): name.hashBytes(into: &hasher)
      case .attributeOfUser(let name, let id):
        name.hashBytes(into: &hasher)
        hasher.combine(id)
      }
    }

    /// Whether a change belongs to this topic.
    ///
    /// - Parameter change: The change.
    /// - Returns: whether a listener of this topic hears of it.
    public func contains(_ change: Change) -> Bool {
      switch self {
      case .everything: true
      case .user(let id): change.user == id
      case .attributeOfAll(let name): change.attribute.hasSameBytes(as: name)
      case .attributeOfUser(let name, let id): change.user == id && change.attribute.hasSameBytes(as: name)
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
