import TestSupport
import Testing

@testable import UserStore

/// The users as of each round, from the change sets alone, and what the lists must be then.
final class ListModel: Sendable {
  final class Followed: Sendable {
    let query: Query
    let list: Listenable<Rows>
    /// The rows by the steps, and by the batches, of all calls so far.
    let shown = Lock((rows: Rows(), steps: [User](), batch: [User](), calls: 0))

    init(_ query: Query, _ list: Listenable<Rows>) {
      self.query = query
      self.list = list
    }
  }

  private struct State {
    var users: [User.ID: User] = [:]
    var lists: [Followed] = []
    var counts: [(condition: Condition, count: Listenable<Int>)] = []
    var removed: Set<User.ID> = []
    var rounds = 0
    var failures: [String] = []
  }

  private let state = Lock(State())

  var rounds: Int { state.withLock { $0.rounds } }
  var userCount: Int { state.withLock { $0.users.count } }
  var failures: [String] { state.withLock { $0.failures } }
  /// The users that were removed and not added again, in order.
  var removed: [User.ID] { state.withLock { $0.removed.sorted() } }
  var lists: [Followed] { state.withLock { $0.lists } }

  func fail(_ text: String) { state.withLock { if $0.failures.count < 5 { $0.failures.append(text) } } }

  /// Follows the store; call it before lists are made, and outside of writes.
  func follow(_ store: UserStore) throws {
    store.listeners.bind("model", to: .everything) { [weak self, weak store] set in
      guard let self, let store else { return }
      try receive(set, store)
    }
    let users = try store.read { try $0.users() }
    state.withLock { $0.users = Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) }) }
  }

  private func receive(_ set: ChangeSet, _ store: UserStore) throws {
    if set.discontinuity != nil {
      let users = try store.read { try $0.users() }
      state.withLock { state in
        state.users = Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) })
        state.removed = []
      }
    } else {
      try set.forEach { change in apply(change) }
    }
    // The current state may be later: then a list that was read again is later too.
    let end = try store.read { try $0.cursor }
    let isLast = end == set.cursor
    let (users, lists, counts) = state.withLock { state in
      state.rounds += 1
      return (Array(state.users.values), state.lists, state.counts)
    }
    for followed in lists { check(followed, users, at: set, isLast: isLast) }
    for (condition, count) in counts where isLast {
      let expected = users.count { condition.isTrue(of: $0) }
      if count.value != expected { fail("count \(count.value), not \(expected): \(condition.node)") }
    }
  }

  private func apply(_ change: Change) {
    state.withLock { state in
      if change.attribute == .name { state.removed.remove(change.user) }
      if change.attribute == .name, change.new.isNull {
        state.users[change.user] = nil
        state.removed.insert(change.user)
      }
      if change.kind == .removed { return }
      var user = state.users[change.user] ?? User(id: change.user, storedValues: [:])
      user[stored: change.attribute] = change.new.isNull ? nil : change.new
      state.users[change.user] = user
    }
  }

  private func check(_ followed: Followed, _ users: [User], at set: ChangeSet, isLast: Bool) {
    let rows = followed.list.value
    if !isLast, let cursor = rows.cursor, cursor.epoch != set.cursor.epoch || cursor.revision > set.revision { return }
    let expected = followed.query.evaluated(on: users)
    if Array(rows) != expected {
      fail("at \(set.revision): \(followed.query)\nis       \(rows.map(\.text))\nexpected \(expected.map(\.text))")
    }
  }

  /// Adds a list, whose steps and batches are applied to what is shown.
  func add(_ query: Query, to store: UserStore, named name: String, on place: DeliveryPlace = .inline) throws {
    let list = try store.list(query)
    let followed = Followed(query, list)
    // Elsewhere, versions are skipped.
    var isInline = false
    if case .inline = place { isInline = true }
    list.bindAndFire(name, on: place) { [weak self, isInline] rows in
      self?.show(rows, in: followed, mustDiffer: isInline)
    }
    state.withLock { $0.lists.append(followed) }
  }

  func addCount(_ condition: Condition, to store: UserStore) throws {
    let count = try store.liveCount(where: condition)
    state.withLock { $0.counts.append((condition, count)) }
  }

  func removeLists() {
    let lists = state.withLock { state in
      defer { (state.lists, state.counts) = ([], []) }
      return (state.lists, state.counts)
    }
    for followed in lists.0 { for name in followed.list.names { followed.list.unbind(name) } }
  }

  private func show(_ rows: Rows, in followed: Followed, mustDiffer: Bool) {
    let (query, old) = (followed.query, followed.shown.withLock { $0 })
    let changes = rows.rowChanges(from: old.rows)
    let (steps, batch) = (old.steps.applying(changes.steps), old.batch.applying(changes, to: rows))
    let way = "\(query) from \(old.steps.map(\.text)) to \(rows.map(\.text))"
    if steps != Array(rows) { fail("steps \(changes.steps) of \(way)") }
    if batch != Array(rows) { fail("batch \(changes) of \(way)") }
    if mustDiffer, old.calls > 0, changes.isEmpty, rows.discontinuity == nil { fail("nothing changed: \(way)") }
    followed.shown.withLock { $0 = (rows, steps, batch, old.calls + 1) }
  }

  /// Compares the lists with their queries, when everything was delivered.
  func checkAll(_ store: UserStore) throws {
    let (lists, counts) = state.withLock { ($0.lists, $0.counts) }
    for followed in lists {
      let users = try store.read { try $0.users(matching: followed.query) }
      if Array(followed.list.value) != users {
        fail("\(followed.query)\nis    \(followed.list.value.map(\.text))\nquery \(users.map(\.text))")
      }
    }
    for (condition, count) in counts {
      let expected = try store.read { try $0.count(where: condition) }
      if count.value != expected { fail("count \(count.value), not \(expected): \(condition.node)") }
    }
  }
}

extension User {
  var text: String {
    "\(id)" + storedValues.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
  }
}

extension [User] {
  func applying(_ steps: [RowChanges.Step]) -> [User] {
    var users = self
    for step in steps {
      switch step {
      case .remove(let index): users.remove(at: index)
      case .insert(let user, let index): users.insert(user, at: index)
      case .move(let user, let from, let to, _):
        users.remove(at: from)
        users.insert(user, at: to)
      case .update(let user, let index, _): users[index] = user
      }
    }
    return users
  }

  /// Applies a batch as a collection view does: only what the batch says changes or moves.
  func applying(_ changes: RowChanges, to rows: Rows) -> [User] {
    var result = [User?](repeating: nil, count: rows.count)
    var leaving = Set(changes.deletions)
    for move in changes.moves {
      leaving.insert(move.from)
      result[move.to] = self[move.from]
    }
    for index in changes.insertions { result[index] = rows[index] }
    var staying = indices.lazy.filter { !leaving.contains($0) }.map { self[$0] }.makeIterator()
    for index in result.indices where result[index] == nil { result[index] = staying.next() }
    for index in changes.updates { result[index] = rows[index] }
    return result.compactMap { $0 }
  }
}
