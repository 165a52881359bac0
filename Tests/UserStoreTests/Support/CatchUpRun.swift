import TestSupport
import Testing

@testable import UserStore

/// One random run of a store that hears of another store's writes in sets that are merged and divided at random.
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
  private let late = Place()
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
    try deliver(all: true)
  }

  func close() {
    store.close()
    other.close()
  }

  func step() throws {
    switch queries.random.choose(0, 0, 0, 1, 1, 2, 2, 3) {
    case 0: try write()
    case 1: try open()
    case 2: try deliver(all: queries.random.oneIn(3))
    default: if queries.random.oneIn(10) { try compact() }
    }
  }

  func finish() throws {
    try deliver(all: true)
    try deliverLate()
    failures += errors.all
  }

  // MARK: Steps

  private func write() throws {
    try other.write { transaction in
      for _ in 0..<queries.random.choose(1, 1, 2, 4) { try queries.change(&transaction) }
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
      // One that is in use already is where it was.
      let known = followed.lazy.compactMap { $0 as? FollowedList }.first { $0.query == query }
      followed.append(FollowedList(query, try store.list(query), at: known?.readAt ?? revision))
    case 1:
      let condition = queries.condition(depth: 2)
      let known = followed.lazy.compactMap { $0 as? FollowedCount }.first { $0.condition == condition }
      followed.append(FollowedCount(condition, try store.count(where: condition), at: known?.readAt ?? revision))
    default:
      guard let user = users.randomElement(using: &queries.random) else { return }
      let place: DeliveryPlace = queries.random.oneIn(2) ? .actor(late) : .inline
      let attribute = Attribute<AnyValue>(queries.random.choose("age", "note", "city"))
      let listenable = try store.listenable(attribute, of: user.id)
      followed.append(FollowedAttribute(attribute.name, user, listenable, at: revision, place))
    }
  }

  private func compact() throws {
    _ = try other.compact(keeping: RetentionPolicy(RetentionPolicy.Limits(changes: 3)))
    try note()
    try deliver(all: true)
  }

  /// Delivers what the store has not heard of, as sets of one or several of the other store's.
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
    try deliverLate()
  }

  /// The sets that the store has not heard of; nil if the log has lost them: then a discontinuity is delivered.
  private func newSets() throws -> [ChangeSet]? {
    let position = store.publication.position
    do { return try store.page(after: position) } catch StoreError.Code.compacted {
      let end = try store.read { try $0.cursor }
      let ticket = store.publication.reset(from: position, to: end, because: .compacted)
      store.publication.deliver(through: ticket)
      try check(after: nil, at: end.revision)
      return nil
    }
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

  /// Waits for the actor on which some listeners are called.
  private func deliverLate() throws {
    let gate = Gate()
    gate.open()
    late.hold(until: gate)
  }

  private func check(after set: ChangeSet?, at revision: Revision) throws {
    for followed in followed { try followed.receive(set, at: revision) }
    // A listener on the actor is late now and then.
    if queries.random.oneIn(2) { try deliverLate() }
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
  /// What differs from the users.
  func failure(_ users: [User]) -> String?
}

private final class FollowedList: Followed {
  let query: Query
  private let list: Listenable<Rows>
  var readAt: Revision

  init(_ query: Query, _ list: Listenable<Rows>, at revision: Revision) {
    self.query = query
    self.list = list
    readAt = revision
  }

  func receive(_ set: ChangeSet?, at revision: Revision) { if set == nil { readAt = revision } }

  func failure(_ users: [User]) -> String? {
    let (rows, expected) = (Array(list.value), query.evaluated(on: users))
    return rows == expected ? nil : "\(query)\nis       \(rows.map(\.text))\nexpected \(expected.map(\.text))"
  }
}

private final class FollowedCount: Followed {
  let condition: Condition
  private let count: Listenable<Int>
  var readAt: Revision

  init(_ condition: Condition, _ count: Listenable<Int>, at revision: Revision) {
    self.condition = condition
    self.count = count
    readAt = revision
  }

  func receive(_ set: ChangeSet?, at revision: Revision) { if set == nil { readAt = revision } }

  func failure(_ users: [User]) -> String? {
    let expected = users.count { condition.isTrue(of: $0) }
    return count.value == expected ? nil : "count \(count.value), not \(expected): \(condition.node)"
  }
}

/// An attribute, whose listener must hear each value once, in order.
private final class FollowedAttribute: Followed {
  private let name: AttributeName
  private let user: User.ID
  private let listenable: Listenable<AnyValue?>
  private let heard = Recorder<StoredValue?>()
  private var expected: [StoredValue?]
  private let isInline: Bool
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
    expected = [user.storedValues[name]]
    listenable.bindAndFire("\(ObjectIdentifier(self))", on: place) { [heard] in heard.record($0?.storedValue) }
  }

  func receive(_ set: ChangeSet?, at revision: Revision) throws {
    guard let set else {
      readAt = revision
      expected.append(listenable.value?.storedValue)
      return
    }
    let last = try set.changes.last {
      $0.user == user && $0.attribute == name && $0.sequence > readAt.rawValue
    }
    if let last { expected.append(last.new.isNull ? nil : last.new) }
  }

  func failure(_ users: [User]) -> String? {
    let heard = heard.all
    let value = users.first { $0.id == user }?.storedValues[name]
    if listenable.value?.storedValue != value { return "\(name) of \(user) is not \(value ?? .null)" }
    // A listener on an actor is late.
    return heard == (isInline ? expected : Array(expected.prefix(heard.count)))
      ? nil : "\(name) of \(user): heard \(heard), not \(expected)"
  }
}

/// A value of any type.
private struct AnyValue: AttributeValue {
  let storedValue: StoredValue

  init?(storedValue: StoredValue) { self.storedValue = storedValue }
}
