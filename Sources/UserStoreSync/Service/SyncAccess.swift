public import UserStore

extension SyncService {
  /// Who sends a request, and what they may do.
  ///
  /// `may(_:_:)` decides, for each user and each attribute. Users and attributes that somebody may not read do not exist for them.
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
    ///
    /// Somebody who may not write all users reads and writes those that they have added (`owner`).
    public let mayAdd: Bool
    /// The users that may be read, with those that may be written; nil for all.
    public let readableUsers: Set<UserStore.User.ID>?
    /// The users that may be written; nil for all.
    public let writableUsers: Set<UserStore.User.ID>?
    /// The attributes that may be read, with the name and those that may be written; nil for all.
    public let readableAttributes: Set<AttributeName>?
    /// The attributes that may be written; nil for all.
    public let writableAttributes: Set<AttributeName>?
    /// The most bytes of JSON that a user can have, of what its writer may read, after somebody with a subject has written it, because
    /// others read the user, too; by default a mebibyte.
    public var userByteLimit = 1 << 20

    /// Whether a user is too large to be written by the subject; never without one.
    public func isTooLarge(_ user: UserStore.User) -> Bool {
      // The size of what the subject may not read would tell that.
      guard !subject.isEmpty, let user = shown(user) else { return false }
      // A character takes at most six bytes in JSON.
      return user.byteCount > userByteLimit / 6 && user.json.utf8.count > userByteLimit
    }

    /// Throws if the access has ended, such as with a token; called in each transaction that writes.
    public var requireValid: @Sendable () throws -> Void = {}

    /// The users that the subject owns, since `resolved(in:)`.
    private(set) var ownedUsers: Set<UserStore.User.ID> = []
    /// The users that the subject does not own, since `resolve(_:in:)`.
    private var strangers: Set<UserStore.User.ID> = []
    /// The users of whom only the owner is shown, because the set that was followed last hands them over.
    private var handedOverUsers: Set<UserStore.User.ID> = []
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
    ///   - mayAdd: Whether users may be added. Without a limit of `writableUsers`, all of them can be written; with one, those that
    ///     the subject has added.
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
      self.mayAdd = mayAdd
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
      if ownedUsers.contains(user) { return true }
      return switch action {
      case .read: readableUsers?.contains(user) ?? true
      case .write: writableUsers?.contains(user) ?? true
      }
    }

    /// Whether somebody may do something with an attribute of the users with which they may do it.
    ///
    /// `owner` can only be written by somebody whose `subject` is empty.
    public func may(_ action: Action, _ attribute: AttributeName) -> Bool {
      if action == .write, attribute == Self.owner, !subject.isEmpty { return false }
      return switch action {
      case .read: readableAttributes?.contains(attribute) ?? true
      case .write: writableAttributes?.contains(attribute) ?? true
      }
    }

    /// Whether everything may be read: all users, all their attributes, and events about no user.
    public var readsAll: Bool { readsAllUsers && readableAttributes == nil }

    /// Whether a change or an event may be read; an event about no user only with all users.
    public func shows(_ entry: UserStore.Entry) -> Bool {
      switch entry {
      case .change(let change): shows(change.user, change.attribute)
      case .event(let event): event.user.map { may(.read, $0) && !handedOverUsers.contains($0) } ?? readsAllUsers
      }
    }

    /// Whether a change of a user's attribute may be read.
    public func shows(_ user: UserStore.User.ID, _ attribute: AttributeName) -> Bool {
      may(.read, user) && may(.read, attribute) && (attribute == Self.owner || !handedOverUsers.contains(user))
    }

    /// The user without what may not be read; nil if the user may not be read.
    public func shown(_ user: UserStore.User) -> UserStore.User? {
      guard may(.read, user.id) || ownsUsers && user[stored: Self.owner] == .text(subject) else { return nil }
      guard let readableAttributes else { return user }
      var shown = user
      for attribute in user.storedValues.keys where !readableAttributes.contains(attribute) {
        shown[stored: attribute] = nil
      }
      return shown
    }

    /// What the subject may know of an error: whose a value is, and what other tables have, may be hidden.
    public func message(of error: StoreError) -> String {
      switch error.code {
      case .notUnique where !readsAll: "another user has this value"
      case .stillReferenced where !readsAll: "the user cannot be removed: another table refers to it"
      default: error.message
      }
    }

    private var readsAllUsers: Bool { readableUsers == nil && hidden?.users.isEmpty ?? true }

    /// A name of what may be read, which replicas keep: with another one, they copy again.
    var grant: String {
      if let hidden { return hidden.grant }
      if readsAll { return "all" }
      let users = readableUsers.map { $0.map(\.rawValue).sorted().map { "\($0)" }.joined(separator: ",") }
      // No name of an attribute has a control character.
      let attributes = readableAttributes.map { $0.sorted().map(\.text).joined(separator: "\u{0}") }
      // Not the owned users: with each that is added, the replica would copy all of them again.
      let text = "\(users ?? "all") \(attributes ?? "\u{1}")\(ownsUsers ? " \(subject)" : "")"
      return [UInt8](text.utf8).fingerprint
    }
  }
}

// MARK: Owners

extension SyncService.Access {
  /// The attribute that names the owner of a user: the subject that has added it, if it may not write all users.
  public static let owner: AttributeName = "owner_subject"

  /// Whether users that the subject has added may be read and written, besides others.
  public var ownsUsers: Bool { mayAdd && writableUsers != nil && !subject.isEmpty }

  /// The condition of the users who may be read.
  ///
  /// A query tests it before the conditions that it is combined with by `&&`: how long these take says nothing about hidden users.
  public var readable: UserStore.Condition {
    guard let readableUsers else { return .always }
    let named = UserStore.Condition.isOneOf("id", readableUsers.sorted().map { .integer($0.rawValue) })
    guard ownsUsers else { return named.testedFirst }
    let isOwn = UserStore.Condition(Self.owner, .equal, .text(subject))
    return (readableUsers.isEmpty ? isOwn : named || isOwn).testedFirst
  }

  /// The access with the users that the subject owns now.
  ///
  /// - Throws: The codes that every read can throw.
  public func resolved<Mode>(in transaction: inout UserStore.Transaction<Mode>) throws(StoreError) -> Self {
    guard ownsUsers else { return self }
    let query = UserStore.Query(where: UserStore.Condition(Self.owner, .equal, .text(subject)))
    var access = self
    access.ownedUsers = Set(try transaction.ids(matching: query))
    return access
  }

  /// The access with a user, if the subject owns it now.
  ///
  /// - Throws: The codes that every read can throw.
  public func resolved<Mode>(
    in transaction: inout UserStore.Transaction<Mode>, about user: UserStore.User.ID
  ) throws(StoreError) -> Self {
    var access = self
    access.ownedUsers = []
    if ownsUsers, try owns(user, in: &transaction) { access.ownedUsers = [user] }
    return access
  }

  /// Whether the subject owns a user; in a write, others cannot change that before the commit.
  private func owns<Mode>(
    _ user: UserStore.User.ID, in transaction: inout UserStore.Transaction<Mode>
  ) throws(StoreError) -> Bool {
    let isUser = UserStore.Condition.isOneOf("id", [.integer(user.rawValue)])
    let own = StoredValue.text(subject)
    // PostgreSQL locks the values that a write reads, so the first look has no lock: a stranger's user is neither locked nor waited for.
    if Mode.self == UserStore.Writing.self {
      let isOwn = UserStore.Condition(Self.owner, .equal, own)
      guard try transaction.count(where: isUser && isOwn) > 0 else { return false }
    }
    return try transaction.storedValue(Self.owner, of: user) == own
  }

  /// The user without what may not be read, which is not read; nil if the user may not be read.
  ///
  /// - Throws: The codes that every read can throw.
  public func user<Mode>(
    _ id: UserStore.User.ID, in transaction: inout UserStore.Transaction<Mode>
  ) throws -> UserStore.User? {
    guard let readableAttributes else { return try transaction.user(id).flatMap { shown($0) } }
    let query = UserStore.Query(
      where: .isOneOf("id", [.integer(id.rawValue)]), showing: readableAttributes.sorted())
    var user: UserStore.User?
    try transaction.forEachUser(matching: query) { user = shown($0) }
    return user
  }

  /// Learns, once in a transaction, whether the subject owns a user: a write then keeps others from changing that before the commit.
  ///
  /// - Throws: The codes that every read can throw.
  mutating func resolve<Mode>(
    _ user: UserStore.User.ID, in transaction: inout UserStore.Transaction<Mode>
  ) throws(StoreError) {
    if !ownsUsers || may(.write, user) || !strangers.insert(user).inserted { return }
    guard try owns(user, in: &transaction) else { return }
    strangers.remove(user)
    ownedUsers.insert(user)
  }

  /// The access with users that the subject has owned, and without those that it has not.
  func owning(_ users: [UserStore.User.ID: Bool]) -> Self {
    var access = self
    for (user, isOwn) in users {
      if isOwn { access.ownedUsers.insert(user) } else { access.ownedUsers.remove(user) }
    }
    return access
  }

  /// The values of a new user, first its owner: the subject, if it may not write all users.
  public func owned(
    _ values: [(attribute: AttributeName, value: StoredValue)]
  ) -> [(attribute: AttributeName, value: StoredValue)] {
    // First, because what follows was written for the owner; and so that it is not in a later part of a large set.
    if ownsUsers { return [(Self.owner, .text(subject))] + values }
    return values.filter { $0.attribute == Self.owner } + values.filter { $0.attribute != Self.owner }
  }

  /// Whether a user with an id may be added: with limits, only an id that may be written, or a negative one, which nobody guesses.
  ///
  /// The refusal of any other would tell whether there is such a user.
  public func mayAdd(_ id: UserStore.User.ID) -> Bool { mayAdd && (id.rawValue < 0 || may(.write, id)) }

  /// The access after a user was added.
  mutating func add(_ id: UserStore.User.ID) {
    if !ownsUsers { return }
    strangers.remove(id)
    ownedUsers.insert(id)
  }

  /// Follows the log: takes over what a set says about owners, before its entries are shown.
  ///
  /// A user who is added or removed in the set is shown in it. Of one who is handed over, only the owner is: the rest may be what the
  /// one before, or the next one, is not to see. A user who is added gets an owner with the addition, before anything else is said of it:
  /// in a file, a set may be several transactions of another program.
  ///
  /// - Parameter entries: Those of the set, in its order; at least the owners of users, the names of those that are added or removed, and
  ///   what follows an addition.
  /// - Returns: The access after the set; and whether a user was handed over, whose earlier changes the subject has not seen.
  public mutating func follow(_ entries: some Sequence<UserStore.Entry>) -> (after: Self, isHandedOver: Bool) {
    guard ownsUsers else { return (self, false) }
    var turns: [UserStore.User.ID: OwnerTurn] = [:]
    for entry in entries {
      switch entry {
      case .event(let event):
        if let user = event.user { turns[user]?.endAddition() }
      case .change(let change):
        if change.attribute == Self.owner || change.attribute == .name && change.kind != .updated {
          turns[change.user, default: OwnerTurn(wasOwn: ownedUsers.contains(change.user))].take(change, of: subject)
        } else if change.kind != .added {
          turns[change.user]?.endAddition()
        }
      }
    }
    var (after, isHandedOver) = (self, false)
    handedOverUsers = []
    after.handedOverUsers = []
    // Who reads a user anyway sees it whose ever it was.
    for (user, turn) in turns where !(readableUsers?.contains(user) ?? true) {
      if turn.isOwn { after.ownedUsers.insert(user) } else { after.ownedUsers.remove(user) }
      if turn.wasOwn || turn.isOwn { ownedUsers.insert(user) }
      if turn.hidesValues { handedOverUsers.insert(user) }
      isHandedOver = isHandedOver || turn.hidesValues
    }
    return (after, isHandedOver)
  }

  /// The access before a set, from the access after it.
  public func before(_ entries: some Sequence<UserStore.Entry>) -> Self {
    var (users, own) = ([UserStore.User.ID: Bool](), StoredValue.text(subject))
    for case .change(let change) in entries where change.attribute == Self.owner && users[change.user] == nil {
      users[change.user] = change.old == own
    }
    return ownsUsers ? owning(users) : self
  }
}

/// What a set says about the owner of a user.
private struct OwnerTurn {
  /// Before the set, and so far.
  private(set) var (wasOwn, isOwn): (Bool, Bool)
  /// Whether the user was own at any time.
  private var hasOwn: Bool
  private var (isRemoved, isHandedOver) = (false, false)
  /// How many times the user is added, and how many times for the subject.
  private var (additions, ownAdditions) = (0, 0)
  /// Whether a change of the owner was taken; and whether nothing has followed the last addition.
  private var (isKnown, isNew) = (false, false)

  init(wasOwn: Bool) { (self.wasOwn, isOwn, hasOwn) = (wasOwn, wasOwn, wasOwn) }

  mutating func take(_ change: UserStore.Change, of subject: String) {
    if change.attribute == .name {
      if change.kind == .added { (additions, isNew) = (additions + 1, true) } else { isRemoved = true }
      return
    }
    // What a purge has left names nobody: then the user is not own any more.
    let own = StoredValue.text(subject)
    let (old, new) = (change.old == own, change.new == own)
    if change.kind == .removed { isRemoved = true }
    if !isKnown, additions == 0 { wasOwn = old || wasOwn && change.isPurged }
    // The owner of a user that is added is set directly after its addition.
    if isNew {
      if new { ownAdditions += 1 }
    } else {
      isHandedOver = isHandedOver || change.kind == .updated && (isOwn || old) != new
    }
    hasOwn = hasOwn || old || new
    (isKnown, isNew, isOwn) = (true, false, new)
  }

  /// Takes anything else that the set says of the user.
  mutating func endAddition() { isNew = false }

  /// Whether the set has values of the one who is not the owner: unless it only adds the user, or only removes it.
  var hidesValues: Bool {
    let isReplaced = isRemoved && additions > 0 && wasOwn != isOwn
    return hasOwn && (isHandedOver || isReplaced || additions != ownAdditions)
  }
}
