import TestSupport
import Testing

@testable import UserStore

/// One random run of a store that receives another store's writes in sets that are merged and divided at random.
///
/// Lists, counts, and attributes are opened between any two of these writes. The run is on one thread, so that it knows what each
/// of them was read at, and what it must be after each delivery.
final class CatchUpRun {
  private let folder: Folder
  private let store: UserStore
  private let other: UserStore
  private var queries: ListQueries
  private var states: [Revision: [User]] = [:]
  private var followed: [any Followed] = []
  /// An actor that is busy until `releaseLate`, so that its listeners are behind.
  private let late = Place()
  private var gate = Gate()
  private let errors = Recorder<String>()
  private(set) var failures: [String] = []

  init(seed: UInt64) throws {
    queries = ListQueries(random: SplitMix64(seed: seed))
    folder = try Folder()
    // Only this run delivers.
    store = try folder.open { [errors] in
      $0.watchesOtherProcesses = false
      $0.onListenerError = { errors.record("\($0 ?? ""): \($1)") }
    }
    other = try folder.open { $0.watchesOtherProcesses = false }
    store.liveQueries.configure(.init(usesKeys: queries.random.oneIn(2), reserve: queries.random.choose(1, 16)))
    // So that there are rounds before the first list.
    store.listeners.bind("any", to: .everything) { _ in }
    for _ in 0..<12 { try write() }
    late.hold(until: gate)
    try deliver(all: true)
  }

  func close() {
    gate.open()
    store.close()
    other.close()
  }

  func step() throws {
    switch queries.random.choose(0, 0, 0, 1, 1, 2, 2, 3) {
    case 0: try write()
    case 1: try open()
    case 2: try deliver(all: queries.random.oneIn(3))
    default: if queries.random.oneIn(4) { try compact() }
    }
  }

  func finish() throws {
    try deliver(all: true)
    releaseLate()
    try check(after: nil, at: store.publication.position.revision, isDelivery: false)
    failures += errors.all
  }

  // MARK: Steps

  private func write() throws {
    try other.write { transaction in
      for _ in 0..<queries.random.choose(1, 1, 2, 4) { try queries.change(&transaction) }
      // What is listened to changes often.
      let places = followed.compactMap { $0 as? FollowedAttribute }.suffix(3)
      guard let place = places.randomElement(using: &queries.random) else { return }
      guard try transaction.hasUser(place.user) else { return }
      try transaction.set(place.name, of: place.user, to: queries.value(of: place.name))
    }
    try note()
  }

  private func note() throws {
    let (revision, users) = try other.read { (try $0.cursor.revision, try $0.users()) }
    states[revision] = users
  }

  private func open() throws {
    let revision = try store.read { try $0.cursor.revision }
    let users = states[revision] ?? []
    switch queries.random.choose(0, 0, 1, 1, 2) {
    case 0:
      let query = queries.query()
      let list = try store.list(query)
      follow("\(query)", at: revision) { users in
        let (rows, expected) = (Array(list.value), query.evaluated(on: users))
        return rows == expected ? nil : "is       \(rows.map(\.text))\nexpected \(expected.map(\.text))"
      }
    case 1:
      let condition = queries.condition(depth: 2)
      let count = try store.liveCount(where: condition)
      follow("\(condition.node)", at: revision) { users in
        let expected = users.count { condition.isTrue(of: $0) }
        return count.value == expected ? nil : "count \(count.value), not \(expected)"
      }
    default:
      guard let user = users.randomElement(using: &queries.random) else { return }
      let place: DeliveryPlace = queries.random.oneIn(2) ? .actor(late) : .inline
      let attribute = Attribute<AnyValue>(queries.random.choose("age", "note", "city"))
      let listenable = try store.listenable(attribute, of: user.id)
      followed.append(FollowedAttribute(attribute.name, user, listenable, at: revision, place))
    }
  }

  /// Follows a list or a count; one that is in use already is where it was.
  private func follow(_ what: String, at revision: Revision, _ difference: @escaping ([User]) -> String?) {
    let known = followed.lazy.compactMap { $0 as? FollowedQuery }.first { $0.what == what }
    followed.append(FollowedQuery(what, at: known?.readAt ?? revision, difference))
  }

  private func compact() throws {
    _ = try other.compact(keeping: RetentionPolicy(RetentionPolicy.Limits(changes: 3)))
    try note()
    try deliver(all: true)
  }

  /// Delivers what the store has not received, as sets of one or several of the other store's.
  private func deliver(all: Bool) throws {
    guard var sets = try newSets() else { return }
    if !all { sets = Array(sets.prefix(Int.random(in: 0...sets.count, using: &queries.random))) }
    while !sets.isEmpty {
      let count = Int.random(in: 1...sets.count, using: &queries.random)
      let merged = try merge(sets.prefix(count), after: store.publication.position)
      sets.removeFirst(count)
      try append(merged)
      try check(after: merged, at: merged.revision)
    }
  }

  /// The sets that the store has not received; nil if the log has lost them: then a discontinuity is delivered.
  private func newSets() throws -> [ChangeSet]? {
    let position = store.publication.position
    do { return try store.page(after: position) } catch {
      guard error.code == .compacted else { throw error }
    }
    try deliverDiscontinuity(after: position)
    return nil
  }

  private func deliverDiscontinuity(after position: Cursor) throws {
    let end = try store.read { try $0.cursor }
    let ticket = store.publication.reset(from: position, to: end, because: .compacted)
    // What is read again may be later than the discontinuity, and the sets between them come afterwards.
    for _ in 0..<queries.random.choose(0, 1, 3) { try write() }
    store.publication.deliver(through: ticket)
    try check(after: nil, at: try store.read { try $0.cursor.revision })
  }

  private func append(_ set: ChangeSet) throws {
    switch store.publication.appendFound([set], retry: {}) {
    case .given(let ticket): store.publication.deliver(through: ticket)
    case .refused: throw StoreError(.busy, "refused")
    }
  }

  private func merge(_ sets: ArraySlice<ChangeSet>, after start: Cursor) throws -> ChangeSet {
    let end = try #require(sets.last).cursor
    let content: ChangeSet.Content =
      if queries.random.oneIn(4) {
        .paged(
          PagedChanges(start: start.revision.rawValue, end: end.revision.rawValue, source: store.reader))
      } else {
        .held(try sets.flatMap { try $0.changes })
      }
    return ChangeSet(cursor: end, origin: nil, isForeign: true, content: content)
  }

  /// Lets the listeners on the actor receive everything that was delivered.
  private func releaseLate() {
    gate.open()
    for followed in followed { followed.release() }
    gate = Gate()
    late.hold(until: gate)
  }

  private func check(after set: ChangeSet?, at revision: Revision, isDelivery: Bool = true) throws {
    if isDelivery { for followed in followed { try followed.receive(set, at: revision) } }
    if queries.random.oneIn(4) { releaseLate() }
    for followed in followed {
      // What was read later than this set is as it was then.
      guard let users = states[max(revision, followed.readAt)] else { continue }
      if let failure = followed.failure(users) { failures.append("at \(revision): \(failure)") }
    }
  }
}

/// Something that was read at a revision, and follows the sets.
private protocol Followed: AnyObject {
  var readAt: Revision { get }
  /// Called after each delivery; nil for a discontinuity.
  func receive(_ set: ChangeSet?, at revision: Revision) throws
  /// Called when the actor of late listeners is free.
  func release()
  /// What differs from the users.
  func failure(_ users: [User]) -> String?
}

extension Followed {
  func release() {}
}

/// A list or a count.
private final class FollowedQuery: Followed {
  let what: String
  var readAt: Revision
  private let difference: ([User]) -> String?

  init(_ what: String, at revision: Revision, _ difference: @escaping ([User]) -> String?) {
    self.what = what
    readAt = revision
    self.difference = difference
  }

  func receive(_ set: ChangeSet?, at revision: Revision) { if set == nil { readAt = revision } }

  func failure(_ users: [User]) -> String? { difference(users).map { "\(what)\n\($0)" } }
}

/// An attribute whose listener must receive each value once, in order.
private final class FollowedAttribute: Followed {
  let name: AttributeName
  let user: User.ID
  private let listenable: Listenable<AnyValue?>
  private let received = Recorder<StoredValue?>()
  private let isInline: Bool
  /// What the listener must have received, and what waits for its actor.
  private var (expected, waiting): ([StoredValue?], [(value: StoredValue?, isRead: Bool)])
  var readAt: Revision

  init(
    _ name: AttributeName, _ user: User, _ listenable: Listenable<AnyValue?>, at revision: Revision,
    _ place: DeliveryPlace
  ) {
    self.name = name
    self.user = user.id
    self.listenable = listenable
    readAt = revision
    isInline = place.actor == nil
    expected = []
    waiting = [(user.storedValues[name], false)]
    listenable.bindAndFire("\(ObjectIdentifier(self))", on: place) { [received] in received.record($0?.storedValue) }
    if isInline { release() }
  }

  func receive(_ set: ChangeSet?, at revision: Revision) throws {
    if let set {
      let last = try set.changes.last {
        $0.user == user && $0.attribute == name && $0.sequence > readAt.rawValue
      }
      if let last { waiting.append((last.new.isNull ? nil : last.new, false)) }
    } else {
      readAt = revision
      waiting.append((listenable.value?.storedValue, true))
    }
    if isInline { release() }
  }

  /// A value that was read after a discontinuity is left out if there is a later one already.
  func release() {
    expected += waiting.enumerated().filter { $0 == waiting.count - 1 || !$1.isRead }.map(\.element.value)
    waiting = []
    received.wait(for: expected.count)
  }

  func failure(_ users: [User]) -> String? {
    let value = users.first { $0.id == user }?.storedValues[name]
    if listenable.value?.storedValue != value { return "\(name) of \(user) is not \(value ?? .null)" }
    let received = received.all
    return received == expected ? nil : "\(name) of \(user): received \(received), not \(expected)"
  }
}

/// A value of any type.
private struct AnyValue: AttributeValue {
  let storedValue: StoredValue

  init?(storedValue: StoredValue) { self.storedValue = storedValue }
}
