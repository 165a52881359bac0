public import Observation

/// A list for views: SwiftUI and `withObservationTracking` track the rows and the attributes that you read.
///
///     struct AdultsView: View {
///       let adults: ObservableList  // try store.observableList(UserStore.Query(where: .age >= 18))
///       var body: some View { ForEach(adults) { user in Text(user.name ?? "") } }
///     }
///
/// - **Rows**: each is an object of its own, the same one as long as the user is in the list. An attribute that changes notifies
///   only the observers of that attribute of that row. A row that enters, leaves, or moves notifies the observers of the list.
/// - **Attributes**: a row has those that the query shows or sorts by; all others are nil. So show the name if your view reads it.
/// - **Updates** happen in one turn of the main actor, soon after the commit. Change sets that come faster are merged.
/// - **Lifetime**: the list follows the log while you hold it, and keeps its rows when the store is closed or released. A row that
///   has left the list keeps its last values.
@MainActor public final class ObservableList: Observable {
  private let registrar = ObservationRegistrar()
  private var rows = UserStore.Rows()
  /// The rows that were read so far.
  private var objects: [UserStore.User.ID: ObservableUser] = [:]
  private var subscription: SubscriptionToken?
  private let makeRow: (User) -> ObservableUser

  init(_ list: Listenable<Rows>, makeRow: @escaping (User) -> ObservableUser) {
    self.makeRow = makeRow
    let terms = ListeningTerms(place: .latest(on: MainActor.shared), isOnPlace: true, fires: true)
    subscription = list.subscribe(terms) { [weak self] rows in MainActor.assumeIsolated { self?.replace(by: rows) } }
  }

  /// The number of rows.
  public var count: Int { current.count }

  private var current: Rows {
    registrar.access(self, keyPath: \.rows)
    return rows
  }

  private func object(_ user: User) -> ObservableUser {
    if let object = objects[user.id] { return object }
    let object = makeRow(user)
    objects[user.id] = object
    return object
  }

  private func replace(by new: Rows) {
    if rows.isEmpty {
      // All changes are insertions, and their users are not needed here: making them would take long.
      if !new.isEmpty { registrar.withMutation(of: self, keyPath: \.rows) { rows = new } }
      return
    }
    let changes = new.rowChanges(from: rows)
    for index in changes.deletions { objects[rows[index].id] = nil }
    if changes.deletions.isEmpty, changes.insertions.isEmpty, changes.moves.isEmpty {
      rows = new
    } else {
      registrar.withMutation(of: self, keyPath: \.rows) { rows = new }
    }
    for index in changes.updates {
      let user = new[index]
      objects[user.id]?.replace(by: user.storedValues)
    }
  }
}

extension ObservableList: @MainActor RandomAccessCollection {
  /// The position of the first row: 0.
  public var startIndex: Int { 0 }
  /// The position after the last row.
  public var endIndex: Int { count }

  /// The row at a position, with the attributes that the query shows or sorts by.
  ///
  /// A position is valid until the main actor's next turn, so until you await: then the list may be shorter.
  public subscript(position: Int) -> ObservableUser { object(current[position]) }

  /// The rows at some positions, which stay the same when the list changes.
  public subscript(bounds: Range<Int>) -> Slice {
    let current = current
    return Slice(current[bounds].map { object($0) }, at: bounds.lowerBound)
  }

  /// Iterates over the rows that the list has now, whatever happens to it meanwhile: a loop may await.
  ///
  /// It makes the objects of all rows at once. A row that has left the list meanwhile keeps its last values.
  public func makeIterator() -> IndexingIterator<Slice> { self[startIndex..<endIndex].makeIterator() }

  /// The rows that the list has now, from the last to the first.
  public func reversed() -> ReversedCollection<Slice> { self[startIndex..<endIndex].reversed() }

  /// Rows of a list as they were at one moment.
  ///
  /// A row is updated as long as it is in the list.
  public struct Slice: RandomAccessCollection, Sendable {
    private let objects: [ObservableUser]
    /// The position of the first row in the list.
    public let startIndex: Int

    fileprivate init(_ objects: [ObservableUser], at start: Int) {
      self.objects = objects
      startIndex = start
    }

    /// The position after the last row.
    public var endIndex: Int { startIndex + objects.count }

    /// The row at a position of the list.
    public subscript(position: Int) -> ObservableUser { objects[position - startIndex] }

    /// Some of these rows.
    public subscript(bounds: Range<Int>) -> Slice {
      let range = bounds.lowerBound - startIndex..<bounds.upperBound - startIndex
      return Slice(Array(objects[range]), at: bounds.lowerBound)
    }
  }
}

extension UserStore {
  /// Returns a list for views, which is updated on the main actor while you hold it.
  ///
  /// - Parameter query: The query.
  /// - Returns: The list with its first rows.
  /// - Throws: The errors of `list`.
  @MainActor public func observableList(_ query: Query) throws(StoreError) -> ObservableList {
    ObservableList(try list(query), makeRow: makeRow)
  }

  /// Returns a list for views as the synchronous `observableList` does, and reads its first rows on a thread of the store.
  @MainActor public func observableList(_ query: Query) async throws -> ObservableList {
    ObservableList(try await list(query), makeRow: makeRow)
  }

  @MainActor private var makeRow: (User) -> ObservableUser {
    let (write, handleError) = (observedWrite, listeners.hub.handleError)
    return { ObservableUser(row: $0, write: write, handleError: handleError) }
  }
}
