public import UserStore

extension SyncService {
  /// Who asks, and what they may do.
  ///
  /// What is not allowed does not exist for whoever asks: `may(_:_:)` decides, for each user and each attribute.
  public struct Access: Sendable {
    /// What somebody does with a user, or an attribute.
    public enum Action: Sendable {
      case read, write
    }

    /// Who it is; empty for the holder of the single token of a server.
    ///
    /// A replica sends only what was written for its subject, and what it sends is written with the subject as its origin.
    public let subject: String
    /// Whether users may be added, and removed ones again.
    public let mayAdd: Bool
    /// The users that may be read, with those that may be written; nil for all.
    public let readableUsers: Set<UserStore.User.ID>?
    /// The users that may be written; nil for all.
    public let writableUsers: Set<UserStore.User.ID>?
    /// The attributes that may be read, with the name and those that may be written; nil for all.
    public let readableAttributes: Set<AttributeName>?
    /// The attributes that may be written; nil for all.
    public let writableAttributes: Set<AttributeName>?
    /// Users that are hidden under a grant with this name.
    private let hidden: (users: Set<UserStore.User.ID>, grant: String)?

    /// Creates the access of somebody who may read and change all users.
    ///
    /// - Parameters:
    ///   - subject: Who it is, as the server has verified it; empty for a server that does not know.
    ///   - mayAdd: Whether users may be added.
    public init(subject: String = "", mayAdd: Bool = true) {
      self.init(subject: subject, mayAdd: mayAdd, readableUsers: nil)
    }

    /// Creates an access with limits.
    ///
    /// What may be written may be read, and so may the name of a user who may be read.
    ///
    /// - Parameters:
    ///   - subject: Who it is, as the server has verified it.
    ///   - mayAdd: Whether users may be added; only somebody who may write all users can.
    ///   - readableUsers: The users that may be read; nil for all.
    ///   - writableUsers: The users that may be written; nil for those that may be read.
    ///   - readableAttributes: The attributes that may be read; nil for all.
    ///   - writableAttributes: The attributes that may be written; nil for those that may be read.
    public init(
      subject: String, mayAdd: Bool, readableUsers: Set<UserStore.User.ID>?,
      writableUsers: Set<UserStore.User.ID>? = nil,
      readableAttributes: Set<AttributeName>? = nil, writableAttributes: Set<AttributeName>? = nil
    ) {
      self.subject = subject
      self.readableUsers = readableUsers?.union(writableUsers ?? [])
      self.writableUsers = writableUsers ?? readableUsers
      self.mayAdd = mayAdd && self.writableUsers == nil
      self.readableAttributes = readableAttributes?.union(writableAttributes ?? []).union([.name])
      self.writableAttributes = writableAttributes ?? readableAttributes
      hidden = nil
    }

    /// Creates an access to all but some users, whose grant has another name whenever these are others.
    package init(subject: String, hiding users: Set<UserStore.User.ID>, grant: String) {
      (self.subject, mayAdd, hidden) = (subject, true, (users, grant))
      (readableUsers, writableUsers, readableAttributes, writableAttributes) = (nil, nil, nil, nil)
    }

    // MARK: Deciding

    /// Whether somebody may do something with a user.
    public func may(_ action: Action, _ user: UserStore.User.ID) -> Bool {
      if hidden?.users.contains(user) ?? false { return false }
      return switch action {
      case .read: readableUsers?.contains(user) ?? true
      case .write: writableUsers?.contains(user) ?? true
      }
    }

    /// Whether somebody may do something with an attribute of the users with which they may do it.
    public func may(_ action: Action, _ attribute: AttributeName) -> Bool {
      switch action {
      case .read: readableAttributes?.contains(attribute) ?? true
      case .write: writableAttributes?.contains(attribute) ?? true
      }
    }

    /// Whether everything may be read: all users, all their attributes, and events about no user.
    public var readsAll: Bool { readsAllUsers && readableAttributes == nil }

    /// Whether a change or an event may be read; an event about no user only with all users.
    public func shows(_ entry: UserStore.Entry) -> Bool {
      switch entry {
      case .change(let change): may(.read, change.user) && may(.read, change.attribute)
      case .event(let event): event.user.map { may(.read, $0) } ?? readsAllUsers
      }
    }

    /// The user without what may not be read; nil if the user may not be read.
    public func shown(_ user: UserStore.User) -> UserStore.User? {
      guard may(.read, user.id) else { return nil }
      guard let readableAttributes else { return user }
      var shown = user
      for attribute in user.storedValues.keys where !readableAttributes.contains(attribute) {
        shown[stored: attribute] = nil
      }
      return shown
    }

    private var readsAllUsers: Bool { readableUsers == nil && hidden?.users.isEmpty ?? true }

    /// A name of what may be read, which replicas keep: with another one, they copy again.
    var grant: String {
      if let hidden { return hidden.grant }
      if readsAll { return "all" }
      let users = readableUsers.map { $0.map(\.rawValue).sorted().map { "\($0)" }.joined(separator: ",") }
      // No name of an attribute has a control character.
      let attributes = readableAttributes.map { $0.sorted().map(\.text).joined(separator: "\u{0}") }
      let text = "\(users ?? "all") \(attributes ?? "\u{1}")"
      return [UInt8](text.utf8).fingerprint
    }
  }
}
