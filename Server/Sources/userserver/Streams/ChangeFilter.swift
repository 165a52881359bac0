import UserStore
import UserStoreSync

/// Which changes and events a client wants, and may read.
struct ChangeFilter: Sendable {
  private var rights: SyncService.Access
  /// The rights after the set that was taken last: users get and lose an owner in the log.
  private var following: SyncService.Access
  /// The end of the set that was taken last, the rights before it, and what it says of owners.
  private var taken: (end: Cursor, before: SyncService.Access, owners: [UserStore.Entry])?
  /// Whether a part of the set that was taken last is still to be shown.
  var isUnfinished = false
  private let attributes: [AttributeName]
  private let user: User.ID?
  private let operations: Set<String>

  init(_ parameters: Parameters, for access: Access) throws(Problem) {
    (rights, following) = (access.rights, access.rights)
    attributes = try parameters.attributes("attribute")
    if let text = parameters["user"] {
      guard let number = Int64(canonical: text) else {
        throw .badRequest("the id of a user is expected", parameter: "user")
      }
      user = User.ID(number)
    } else {
      user = nil
    }
    operations = Set(parameters.all("op"))
    let known = ["insert", "update", "delete", "event"]
    if let other = operations.first(where: { !known.contains($0) }) {
      throw .badRequest(
        "there is no operation \"\(other.prefix(40))\"", parameter: "op", hint: known.joined(separator: " "))
    }
  }

  /// The same with the rights at the place of the log from which it is used.
  ///
  /// It starts where a set does.
  func starting(
    at cursor: Cursor, in ownership: SyncService.OwnershipHistory
  ) async throws -> (ChangeFilter, start: Cursor) {
    let start = try await ownership.start(from: cursor, for: rights)
    var filter = self
    filter.rights = try await ownership.access(rights, at: start)
    filter.following = filter.rights
    return (filter, start)
  }

  /// Takes the next set; call it before its entries are shown.
  mutating func take(_ set: UserStore.ChangeSet) async throws {
    // A part of the same set has its rights.
    guard following.ownsUsers, taken?.end != set.cursor else { return }
    var (before, owners) = (following, [UserStore.Entry]())
    // The transaction of another program ends later, because one more has followed.
    if isUnfinished, let taken { (before, owners) = (taken.before, taken.owners) }
    let last = owners.last?.sequence ?? 0
    owners += try await Self.owners(in: set, of: before).filter { $0.sequence > last }
    taken = (set.cursor, before, owners)
    rights = before
    (following, _) = rights.follow(owners)
  }

  /// The entries of a set that say to whom own users belong, and the first ones after additions.
  private static func owners(
    in set: UserStore.ChangeSet, of rights: SyncService.Access
  ) async throws -> [UserStore.Entry] {
    let own = StoredValue.text(rights.subject)
    var users: Set<User.ID> = []
    try await set.iterateEntries { entry in
      if case .change(let change) = entry, change.attribute == SyncService.Access.owner,
        change.old == own || change.new == own || rights.may(.read, change.user)
      {
        users.insert(change.user)
      }
      return true
    }
    var (entries, added) = ([UserStore.Entry](), Set<User.ID>())
    if users.isEmpty { return entries }
    try await set.iterateEntries { entry in
      switch entry {
      case .change(let change) where users.contains(change.user):
        let isOfOwner = [.name, SyncService.Access.owner].contains(change.attribute)
        let isFirst = change.kind != .added && added.remove(change.user) != nil
        if isOfOwner || isFirst { entries.append(entry) }
        if change.kind == .added { added.insert(change.user) }
      case .event(let event):
        if let user = event.user, added.remove(user) != nil { entries.append(entry) }
      default: break
      }
      return true
    }
    return entries
  }

  func accepts(_ entry: UserStore.Entry) -> Bool {
    if !rights.shows(entry) { return false }
    return switch entry {
    case .change(let change):
      (user ?? change.user) == change.user && (attributes.isEmpty || attributes.contains(change.attribute))
        && (operations.isEmpty || operations.contains(change.kind.rawValue))
    // An event is about no attribute.
    case .event(let event):
      (user == nil || user == event.user) && attributes.isEmpty
        && (operations.isEmpty || operations.contains("event"))
    }
  }
}
