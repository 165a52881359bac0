import Foundation
import HTTPTypes
import UserStore
import UserStoreSync
import UserStoreText

/// Who asks, and what they may do.
///
/// It alone decides, for every request: `API.Resource` says what each needs, and `rights` which users and attributes.
struct Access: Sendable {
  /// What a request needs.
  enum Need: Sendable {
    case nothing, read, write, add
    /// To see how the server works, and the names under which replicas send: only with its own token.
    case operate
  }

  /// What may be read and written; with users that the token's holder owns since `resolved`.
  private(set) var rights: SyncService.Access
  private let granted: Set<Need>
  /// The token, and when a stream ends that begins now; nil for the single token, which does not end.
  private let token: (verified: VerifiedToken, streamEnd: Date, keys: AccessKeys)?

  /// A client without a token.
  static let nobody = Access(SyncService.Access(subject: "", mayAdd: false, readableUsers: []), [.nothing])
  /// The holder of the single token, and everybody on a server without one.
  static let everything = Access(SyncService.Access(), [.nothing, .read, .write, .add, .operate])

  private init(
    _ rights: SyncService.Access, _ granted: Set<Need>,
    token: (verified: VerifiedToken, streamEnd: Date, keys: AccessKeys)? = nil
  ) {
    (self.rights, self.granted, self.token) = (rights, granted, token)
  }

  /// The access that a token gives.
  init(_ token: VerifiedToken, _ keys: AccessKeys) {
    let claims = token.claims
    var rights = SyncService.Access(
      subject: claims.subject, mayAdd: claims.add, readableUsers: claims.read.users, writableUsers: claims.write.users,
      readableAttributes: claims.readable.map { Set($0.map { AttributeName($0) }) },
      writableAttributes: claims.writable.map { Set($0.map { AttributeName($0) }) })
    var granted: Set<Need> = [.nothing]
    if claims.read != .none || claims.add { granted.insert(.read) }
    if claims.write != .none || claims.add { granted.insert(.write) }
    if rights.mayAdd { granted.insert(.add) }
    // A stream that began before the expiry ends then, although clocks may differ: its client connects again once, and no more.
    let (now, expiry) = (Date(), token.expires.addingTimeInterval(-AccessKeys.skew))
    let end = now < expiry ? expiry : token.expires
    rights.requireValid = { if Date() >= token.expires || !keys.has(token.keyID) { throw Ended() } }
    self.init(rights, granted, token: (token, end, keys))
  }

  /// Whom the token belongs to; empty for the single token of the server.
  var subject: String { rights.subject }

  // MARK: Deciding

  /// - Throws: `forbidden` if the token does not give what a request needs.
  func require(_ need: Need) throws(Problem) {
    if granted.contains(need) { return }
    switch need {
    case .nothing, .read: throw Self.forbidden("read users")
    case .operate: throw Self.forbidden("see how the server works", hint: "the server's own token does")
    case .write: throw Self.forbidden("change users")
    case .add: throw Self.forbidden("add users")
    }
  }

  /// The access with a user, if the token's holder owns it now.
  func resolved(in store: UserStore, about user: User.ID) async throws -> Access {
    // The database is not asked about a user that cannot be own, nor about one that may be written anyway.
    if !rights.ownsUsers || rights.may(.write, user) { return self }
    return try await store.read { users in try resolved(in: &users, about: user) }
  }

  /// The same in a transaction, which has what others have written meanwhile.
  func resolved<Mode>(in users: inout UserStore.Transaction<Mode>, about user: User.ID) throws -> Access {
    var access = self
    access.rights = try rights.resolved(in: &users, about: user)
    return access
  }

  /// The access with all users that the token's holder owns.
  func resolved<Mode>(in users: inout UserStore.Transaction<Mode>) throws -> Access {
    var access = self
    access.rights = try rights.resolved(in: &users)
    return access
  }

  var userByteLimit: Int {
    get { rights.userByteLimit }
    set { rights.userByteLimit = newValue }
  }

  /// - Throws: `userNotFound` if the user may not be read, whether there is one or not; `forbidden` if it may not be written.
  func requireWriting(_ user: User.ID) throws(Problem) {
    guard rights.may(.read, user) else { throw API.noUser(user) }
    guard rights.may(.write, user) else { throw Self.forbidden("change user \(user)") }
  }

  /// - Throws: `forbidden` if the attribute may not be read or written.
  func require(_ action: SyncService.Access.Action, _ attribute: AttributeName) throws(Problem) {
    if rights.may(action, attribute) { return }
    throw Self.forbidden("\(action == .read ? "read" : "change") \(attribute.text.excerpt)")
  }

  /// - Throws: `forbidden` if no user with this id may be added, whether there is one or not.
  func requireAdding(_ user: User.ID) throws(Problem) {
    if rights.mayAdd(user) { return }
    throw Self.forbidden("add user \(user)", hint: "a random negative number, or POST /users, which chooses an id")
  }

  /// - Throws: `forbidden` unless all attributes may be written, as a removal does.
  func requireWritingAllAttributes() throws(Problem) {
    if rights.writableAttributes != nil { throw Self.forbidden("remove users, whose attributes it limits") }
  }

  /// - Throws: `forbidden` if events about no user may not be posted, because they are about all.
  func requireWritingAllUsers() throws(Problem) {
    if rights.writableUsers != nil { throw Self.forbidden("post events about no user") }
  }

  /// A query for those of its users and attributes that may be read.
  ///
  /// - Throws: `forbidden` if it asks for an attribute that may not be read: the order, or the number, of users would tell the values.
  func limited(_ query: UserStore.Query) throws(Problem) -> UserStore.Query {
    // All that a query searches in is kept in memory until it ends, once for each search; and lists search after each change.
    if !subject.isEmpty, query.where.searchCount > Self.searchLimit {
      throw .badRequest("a person's query can search in \(Self.searchLimit) texts at most", parameter: "where")
    }
    if rights.readsAll { return query }
    for attribute in query.where.attributes.union(query.sortedBy.map(\.attribute)).sorted() where attribute != "id" {
      try require(.read, attribute)
    }
    var query = query
    query.where = rights.readable && query.where
    if let attributes = rights.readableAttributes {
      query.showing = query.showing.map { $0.filter { attributes.contains($0) } } ?? attributes.sorted()
    }
    return query
  }

  private static let searchLimit = 10

  /// Notices mistyped attributes, of which no user has one: only if all may be read, because it would tell whether another user has it.
  func check(_ text: QueryText, in users: inout UserStore.ReadTransaction) throws {
    if rights.readsAll { try text.check(.parameters, in: &users) }
  }

  private static func forbidden(_ what: String, hint: String? = nil) -> Problem {
    Problem(.forbidden, "forbidden", "the token does not allow its holder to \(what)", hint: hint)
  }

  // MARK: The end of a token

  /// The token has expired, or its key was withdrawn.
  struct Ended: Error {}

  /// Checks the token again, before anything is read or written for a request that has waited.
  ///
  /// - Throws: `Ended`.
  func requireValid() throws { try rights.requireValid() }

  /// Does `body`, and cancels it when the token ends.
  ///
  /// - Throws: `Ended`, and the errors of `body`.
  func whileValid<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
    guard let token else { return try await body() }
    let ended: @Sendable () async throws -> Void = {
      while Date() < token.streamEnd, token.keys.has(token.verified.keyID) {
        try await Task.sleep(for: .seconds(min(0.4, max(0.001, token.streamEnd.timeIntervalSinceNow))))
      }
    }
    guard let result = try await until(ended, body) else { throw Ended() }
    return result
  }
}

extension AccessClaims.Scope {
  /// The users; nil for all.
  fileprivate var users: Set<User.ID>? {
    switch self {
    case .all: nil
    case .ids(let ids): Set(ids.map { User.ID($0) })
    }
  }
}
