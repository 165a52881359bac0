import HTTPTypes
import Hummingbird
import UserStore
import UserStoreSync
import UserStoreText

extension API {
  func add(_ request: Request) async throws -> Response {
    _ = try Parameters(request)
    try checkConditions(of: request)
    let body = try await writtenBody(request)
    let (id, values) = try RecordText.record(body)
    if id != nil { throw Problem.badRequest("a new user gets its id from the server", hint: "PUT /users/ID takes one") }
    for (attribute, value) in values where value != .null { try access.require(.write, attribute) }
    let written = try await write(request, body) { api, users in try users.add(api.access.rights.owned(values)) }
    return try await answer(written, status: .created)
  }

  func put(_ text: String, _ request: Request) async throws -> Response {
    _ = try Parameters(request)
    try checkConditions(of: request, .ifMatch, .ifNoneMatch)
    let id = try userID(text)
    let body = try await writtenBody(request)
    let record = try RecordText.record(body)
    if let other = record.id, other != id { throw Problem.badRequest("the id in the body is \(other), not \(id)") }
    if let none = try EntityTags(.ifNoneMatch, of: request) {
      guard none.isAny else {
        throw Problem.badRequest("If-None-Match can only be * here", hint: "If-Match replaces a user")
      }
      return try await create(id, record.values, request, body)
    }
    let tags = try requiredTags(request)
    // A hair color that may not be read was null in the answer to GET.
    let values = record.values.filter { $0.value != .null || access.rights.may(.read, $0.attribute) }
    for (attribute, _) in values { try access.require(.read, attribute) }
    let kept = Set(values.map(\.attribute))
    let written = try await write(request, body, about: id) { api, users in
      let user = try api.matching(tags, id, in: &users)
      let dropped = user.storedValues.keys.filter { !kept.contains($0) }
      // What may only be read can be in the body as it is.
      let changed = (values + dropped.map { ($0, .null) }).filter { attribute, value in
        api.access.rights.may(.write, attribute) || user.storedValues[attribute] ?? .null != value
      }
      for (attribute, _) in changed { try api.access.require(.write, attribute) }
      try users.set(changed, of: id)
      return id
    }
    return try await answer(written)
  }

  private func create(
    _ id: User.ID, _ values: [(attribute: AttributeName, value: StoredValue)], _ request: Request, _ body: [UInt8]
  ) async throws -> Response {
    try access.require(.add)
    try access.requireAdding(id)
    for (attribute, value) in values where value != .null { try access.require(.write, attribute) }
    let written = try await write(request, body) { api, users in
      let api = try api.resolved(in: &users, about: id)
      try api.access.requireAdding(id)
      // A repeated request finds the user that the first one has added.
      if try users.count(where: .isOneOf("id", [.integer(id.rawValue)])) > 0 {
        throw Problem(.preconditionFailed, "preconditionFailed", "user \(id) exists")
      }
      return try users.add(api.access.rights.owned(values), as: id)
    }
    return try await answer(written, status: .created)
  }

  func patch(_ text: String, _ request: Request) async throws -> Response {
    _ = try Parameters(request)
    try checkConditions(of: request, .ifMatch)
    let id = try userID(text)
    let body = try await writtenBody(request)
    let records = try RecordText.records(body, named: ["set", "expect"], asStored: ["expect"])
    guard let values = records["set"] else { throw Problem.badRequest("the member \"set\" is missing") }
    let expected = records["expect"] ?? []
    let tags = try EntityTags(.ifMatch, of: request)
    for (attribute, _) in values { try access.require(.write, attribute) }
    for (attribute, _) in expected { try access.require(.read, attribute) }
    let written = try await write(request, body, about: id) { api, users in
      if let tags {
        _ = try api.matching(tags, id, in: &users)
      } else {
        try Self.requireUser(id, in: &users)
      }
      try api.check(expected, of: id, in: &users)
      try users.set(values, of: id)
      return id
    }
    return try await answer(written)
  }

  func remove(_ text: String, _ request: Request) async throws -> Response {
    _ = try Parameters(request)
    try checkConditions(of: request, .ifMatch)
    try requireWriting()
    let id = try userID(text)
    let tags = try requiredTags(request)
    try access.requireWritingAllAttributes()
    let written = try await write(request, about: id) { api, users in
      _ = try api.matching(tags, id, in: &users)
      try users.remove(id)
      return nil
    }
    return try await answer(written)
  }

  func undo(_ text: String, _ request: Request) async throws -> Response {
    _ = try Parameters(request)
    try checkConditions(of: request)
    try requireWriting()
    guard let number = Int64(canonical: text), number > 0 else {
      throw Problem(.notFound, "revisionNotFound", "\"\(text.prefix(40))\" is not a revision")
    }
    let revision = UserStore.Revision(rawValue: number)
    let past = try await rights(at: revision)
    let written = try await write(request, origin: "undo") { [past] api, users in
      let api = try api.resolved(in: &users)
      try api.undo(revision, as: past, in: &users)
      return nil
    }
    return try await answer(written, with: [("undone", "\(revision)")])
  }

  /// The rights at the end of a set: what somebody else has written stays hidden from the owner after.
  private func rights(at revision: UserStore.Revision) async throws -> SyncService.Access {
    guard access.rights.ownsUsers else { return access.rights }
    return try await queries.inTurn(of: access.subject) {
      guard let end = try await store.read({ try $0.cursor(at: revision) }) else { return access.rights }
      return try await ownership.access(access.rights, at: end)
    }
  }

  /// Undoes a change set, all of which the client may write, and could read with the rights at its end, which are `past`.
  ///
  /// For a client that may read only a part of it, or nothing, there is no such set.
  private func undo(
    _ revision: UserStore.Revision, as past: SyncService.Access, in users: inout UserStore.WriteTransaction
  ) throws {
    var (refusal, owners, seen) = (Problem?.none, [UserStore.Entry](), [User.ID: Set<AttributeName>]())
    /// Called when all changes are known; what was undone meanwhile is rolled back.
    func requireReading() throws(Problem) {
      var past = past.before(owners.reversed())
      _ = past.follow(owners.reversed())
      for (user, attributes) in seen where !attributes.allSatisfy({ past.shows(user, $0) }) {
        throw Self.noSet(revision)
      }
    }
    // The own users who would lose their owner, and were not added in the set: with an addition, the owner is undone.
    var (released, changed) = (Set<User.ID>(), Set<User.ID>())
    do {
      try users.undo(revision) { change in
        guard access.rights.shows(.change(change)) else { throw Self.noSet(revision) }
        if [.name, SyncService.Access.owner].contains(change.attribute) { owners.append(.change(change)) }
        seen[change.user, default: []].insert(change.attribute)
        do throws(Problem) {
          try access.requireWriting(change.user)
          if !access.subject.isEmpty { changed.insert(change.user) }
          if change.attribute == SyncService.Access.owner, change.old == .null, change.new == .text(access.subject) {
            released.insert(change.user)
          } else {
            try access.require(.write, change.attribute)
          }
          // The newest changes come first, and the addition is the oldest one.
          if change.kind == .added {
            released.remove(change.user)
            try access.requireWritingAllAttributes()
          }
          if change.kind == .removed { try access.require(.add) }
        } catch { refusal = refusal ?? error }
      }
    } catch let error as StoreError {
      try requireReading()
      // The reason would tell where hidden sets end.
      if [.revisionNotFound, .compacted].contains(error.code), !access.rights.readsAll { throw Self.noSet(revision) }
      throw refusal ?? error
    }
    try requireReading()
    if let refusal { throw refusal }
    for id in changed { if let user = try access.rights.user(id, in: &users) { try requireSize(of: user) } }
    if !released.isEmpty { try access.require(.write, SyncService.Access.owner) }
  }

  private static func noSet(_ revision: UserStore.Revision) -> Problem {
    Problem(.notFound, "revisionNotFound", "there is no change set \(revision)")
  }

  func post(_ request: Request) async throws -> Response {
    _ = try Parameters(request)
    try checkConditions(of: request)
    let body = try await writtenBody(request)
    let (name, payload, user) = try Self.event(body)
    if user == nil { try access.requireWritingAllUsers() }
    let api = if let user { try await resolved(about: user) } else { self }
    let written = try await api.write(request, body, about: user) { _, users in
      try users.post(name, payload, about: user)
      return nil
    }
    return try await answer(written, status: .created)
  }

  /// Reads an event with the members that its line in `GET /changes` has.
  private static func event(_ body: [UInt8]) throws -> (name: String, payload: StoredValue, user: User.ID?) {
    let members = try RecordText.members(body)
    if let other = members.first(where: { !["event", "user", "payload"].contains($0.name) }) {
      throw Problem.badRequest("an event has no member \"\(other.name.prefix(40))\"", hint: "event user payload")
    }
    let value = { name in members.last { $0.name == name }?.value ?? .null }
    guard case .text(let name) = value("event") else {
      throw Problem.badRequest("the member \"event\" must be its name")
    }
    switch value("user") {
    case .null: return (name, value("payload"), nil)
    case .integer(let id): return (name, value("payload"), User.ID(id))
    default: throw Problem.badRequest("the member \"user\" must be the id of a user")
    }
  }

  // MARK: Conditions

  /// The tags of If-Match, without which a request could overwrite changes that its client has not seen.
  private func requiredTags(_ request: Request) throws(Problem) -> EntityTags {
    if let tags = try EntityTags(.ifMatch, of: request) { return tags }
    throw Problem(
      .preconditionRequired, "preconditionRequired", "the header If-Match is missing",
      hint: "send the ETag of the user as you have read it, or * for any")
  }

  /// Refuses conditions without a meaning here, which the client would wrongly rely on.
  private func checkConditions(of request: Request, _ known: HTTPField.Name...) throws(Problem) {
    let given = [HTTPField.Name.ifMatch, .ifNoneMatch].filter { request.headers[$0] != nil }
    if let other = given.first(where: { !known.contains($0) }) {
      throw .badRequest("\(other.rawName) has no meaning here", parameter: other.rawName)
    }
    if given.count > 1 {
      throw .badRequest("If-Match and If-None-Match cannot be combined", parameter: "If-None-Match")
    }
  }

  /// The user as its client sees it.
  private func matching(
    _ tags: EntityTags, _ id: User.ID, in users: inout UserStore.WriteTransaction
  ) throws -> User {
    guard let user = try access.rights.user(id, in: &users) else { throw Self.noUser(id) }
    let tag = ETag(of: user)
    if tags.contain(tag) { return user }
    throw Self.changed(id, since: tags, tag)
  }

  /// The answer to a request that refers to an earlier state of a user.
  static func changed(_ id: User.ID, since tags: EntityTags, _ tag: ETag) -> Problem {
    var problem = Problem(.preconditionFailed, "preconditionFailed", "user \(id) has changed since")
    if tags.contain(tag, isWeak: true) {
      problem.detail = "the tag is weak, and If-Match needs a strong one"
      problem.hint = "a proxy that compresses answers makes tags weak: remove W/ from it"
    }
    problem.headers[.eTag] = tag.text
    return problem
  }

  private func check(
    _ expected: [(attribute: AttributeName, value: StoredValue)], of id: User.ID,
    in users: inout UserStore.WriteTransaction
  ) throws {
    var current: [(name: String, json: String)] = []
    var isSame = true
    for (attribute, value) in expected {
      let stored = try users.storedValue(attribute, of: id)
      isSame = isSame && stored == value
      let json = stored.json
      try bodyPermit?.grow(by: json.utf8.count)
      current.append((attribute.text, json))
    }
    if isSame { return }
    var problem = Problem(.conflict, "conflict", "user \(id) has other values than expected")
    problem.members = [("current", JSONText.object(current))]
    throw problem
  }

  // MARK: Writing

  /// What a write has changed, and its place in the log.
  private struct Written: Sendable {
    /// The user in the answer.
    let user: User?
    let revision: UserStore.Revision
    let isUnchanged: Bool
  }

  private enum WriteResult: Sendable {
    case new(Written)
    case known(IdempotencyKey.Outcome)
  }

  private func writtenBody(_ request: Request) async throws -> [UInt8] {
    try requireWriting()
    return try await body(request)
  }

  private static func requireUser(_ id: User.ID, in users: inout UserStore.WriteTransaction) throws {
    if try users.storedValue(.name, of: id) == .null { throw noUser(id) }
  }

  /// Writes once, however often the client sends the request with an `Idempotency-Key`.
  ///
  /// `change` has the rights of the transaction, in which the client may still write the user, if there is one. It returns the id of
  /// the user in the answer. Also throws if there is no memory for the answer; then nothing is written.
  private func write(
    _ request: Request, _ body: [UInt8] = [], about user: User.ID? = nil, origin standard: String = "userserver",
    _ change: @escaping @Sendable (API, inout UserStore.WriteTransaction) throws -> User.ID?
  ) async throws -> Written {
    let origin = access.subject.isEmpty ? request.headers[.changeOrigin] ?? standard : access.subject
    guard (1...100).contains(origin.unicodeScalars.count), !origin.contains(where: \.isNewline) else {
      throw Problem.badRequest("Change-Origin must have 1 to 100 characters")
    }
    let key = try IdempotencyKey(request, body, access)
    // Before the database is asked, so that the time tells nothing. A repeated request may be about a user that is removed now.
    if let user, key == nil { try access.requireWriting(user) }
    let result: WriteResult = try await store.write(origin: origin) { users in
      try access.requireValid()
      if let known = try key?.outcome(in: &users) { return .known(known) }
      let api = try user.map { try resolved(in: &users, about: $0) } ?? self
      if let user { try api.access.requireWriting(user) }
      let changed = try change(api, &users)
      let user = try changed.map { try api.written($0, in: &users) }
      let revision = try users.revision
      let written = Written(user: user, revision: revision, isUnchanged: revision == (try users.cursor.revision))
      try key?.keep(written.revision, isUnchanged: written.isUnchanged, user?.id, in: &users)
      return .new(written)
    }
    switch result {
    case .new(let written): return written
    case .known(let outcome):
      let revision = UserStore.Revision(rawValue: outcome.revision)
      let user = try await queries.run(of: access.subject, for: channel) { [self] in
        try await store.read { users in try past(outcome.user, at: revision, in: &users) }
      }
      return Written(user: user, revision: revision, isUnchanged: outcome.isUnchanged)
    }
  }

  /// The user as a write has left it, for the answer to a repeated request.
  ///
  /// - Throws: `answerForgotten` if the log does not tell that, or the client may not read the user any more.
  private func past(
    _ id: Int64?, at revision: UserStore.Revision, in users: inout UserStore.ReadTransaction
  ) throws -> User? {
    guard let id = id.map({ User.ID($0) }) else { return nil }
    let access = try access.resolved(in: &users, about: id)
    do {
      let distance = try users.cursor.revision.rawValue - revision.rawValue
      if distance <= IdempotencyKey.longestWay, access.rights.may(.read, id) {
        return try shown(users.user(id, at: revision), id)
      }
    } catch let error as StoreError where [.compacted, .revisionNotFound].contains(error.code) {}
    throw Problem(
      .gone, "answerForgotten",
      "the request was carried out, as revision \(revision); what it was answered is not known any more",
      hint: "GET /users/\(id)")
  }

  /// The user that a write has changed.
  private func written(_ id: User.ID, in users: inout UserStore.WriteTransaction) throws -> User {
    let rights = try access.resolved(in: &users, about: id).rights
    guard let user = try rights.user(id, in: &users) else { throw Self.noUser(id) }
    try requireSize(of: user)
    try bodyPermit?.resize(to: user.byteCount)
    return user
  }

  /// - Throws: `tooLarge` for a user that others could not read.
  private func requireSize(of user: User) throws(Problem) {
    guard access.rights.isTooLarge(user) else { return }
    throw Problem(
      .contentTooLarge, "tooLarge", "user \(user.id) would have more than \(access.userByteLimit >> 10) KiB of JSON")
  }

  /// The user for an answer, which replaces the body in memory: that has been read.
  private func shown(_ user: User?, _ id: User.ID) throws -> User {
    guard let user, let shown = access.rights.shown(user) else { throw Self.noUser(id) }
    try bodyPermit?.resize(to: shown.byteCount)
    return shown
  }

  private func answer(
    _ written: Written, status: HTTPResponse.Status = .ok, with first: [(name: String, json: String)] = []
  ) async throws -> Response {
    var (members, headers) = (first, HTTPFields())
    if let user = written.user {
      let text = user.json
      members.append(("user", text))
      headers[.eTag] = ETag(of: text).text
      if status == .created { headers[.location] = "/users/\(user.id)" }
    }
    members += try await end(of: written)
    if written.isUnchanged { members.append(("unchanged", "true")) }
    return json(JSONText.object(members), status: status, headers: headers)
  }

  /// The members for a write's revision and its cursor, after which a feed continues.
  private func end(of written: Written) async throws -> [(name: String, json: String)] {
    let revision = written.revision
    // After the commit, a failure to read must not look like a failure to write.
    let cursor = try? await store.read { users in try users.cursor(at: revision) }
    return [("revision", "\(revision)"), ("cursor", JSONText.text(cursor?.description))]
  }
}
