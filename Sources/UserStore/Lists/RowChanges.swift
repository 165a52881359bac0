extension UserStore {
  /// The changes that turn one version of a list into another, as steps and as a batch.
  ///
  /// - **Steps** are applied one after the other, for a copy of the rows, or a view that moves rows one by one:
  ///
  ///       for step in rows.rowChanges(from: shown).steps { apply(step) }
  ///
  /// - **The batch** is for `UITableView`, `UICollectionView`, and the like. `deletions`, and `from` of `moves`, are positions in
  ///   the old version; `insertions`, `to` of `moves`, and `updates` are positions in the new version. Update the rows after the
  ///   batch: these views expect old positions in it.
  public struct RowChanges: Sendable {
    /// One of several changes that are applied one after the other.
    public enum Step: Sendable, Equatable {
      /// Remove the row at this position.
      case remove(at: Int)
      /// Insert a row, so that it is at this position.
      case insert(User, at: Int)
      /// Remove the row at the position `from`, and insert it, so that it is at the position `to`.
      ///
      /// `changed` are its attributes that have other values; there may be none.
      case move(User, from: Int, to: Int, changed: [AttributeName])
      /// Replace the row at this position, whose attributes `changed` have other values.
      case update(User, at: Int, changed: [AttributeName])
    }

    /// A row that moves.
    public struct Move: Hashable, Sendable {
      /// The position in the old version.
      public let from: Int
      /// The position in the new version.
      public let to: Int
    }

    /// The steps; each position is one after the steps before.
    public private(set) var steps: [Step] = []
    /// The positions in the old version of rows that the new version does not have, in ascending order.
    public private(set) var deletions: [Int] = []
    /// The positions in the new version of rows that the old version does not have, in ascending order.
    public private(set) var insertions: [Int] = []
    /// The rows to move; without them, the rows of both versions are in the same order.
    public private(set) var moves: [Move] = []
    /// The positions in the new version of rows of both versions that have other values, in ascending order.
    public private(set) var updates: [Int] = []

    /// Whether there are no changes.
    public var isEmpty: Bool { steps.isEmpty }
  }
}

extension UserStore.RowChanges {
  private typealias Entry = RowDifference.Entry

  init(_ difference: RowDifference, _ layout: RowLayout) {
    let entries = difference.entries
    let (oldPlaces, newPlaces) = (Places(entries, areNew: false), Places(entries, areNew: true))
    // A position in the version between both is the old one, shifted by what the steps before have removed and inserted.
    var shifts = Shifts(count: entries.count)
    func position(of place: Int) -> Int { entries[place].oldPosition + shifts.sum(before: place) }

    for (place, entry) in entries.enumerated().reversed() where !entry.isNew && newPlaces[entry.row.id] == nil {
      steps.append(.remove(at: position(of: place)))
      deletions.append(entry.oldPosition)
      shifts.add(-1, at: place)
    }
    deletions.reverse()
    for (place, entry) in entries.enumerated() where entry.isNew {
      guard let oldPlace = oldPlaces[entry.row.id] else { continue }
      let old = entries[oldPlace]
      let start = position(of: oldPlace)
      shifts.add(-1, at: oldPlace)
      let end = position(of: place)
      shifts.add(1, at: place)
      let changed = layout.changes(from: old.row, to: entry.row)
      if start != end {
        steps.append(.move(layout.user(entry.row), from: start, to: end, changed: changed))
        moves.append(Move(from: old.oldPosition, to: entry.newPosition))
      } else if !changed.isEmpty {
        steps.append(.update(layout.user(entry.row), at: end, changed: changed))
      }
      if !changed.isEmpty { updates.append(entry.newPosition) }
    }
    for (place, entry) in entries.enumerated() where entry.isNew && oldPlaces[entry.row.id] == nil {
      steps.append(.insert(layout.user(entry.row), at: position(of: place)))
      insertions.append(entry.newPosition)
      shifts.add(1, at: place)
    }
  }

  /// Replaces all rows, for lists with different orders or attributes.
  init(replacing old: Int, by new: [User]) {
    deletions = Array(0..<old)
    insertions = Array(new.indices)
    steps = deletions.reversed().map { .remove(at: $0) } + new.enumerated().map { .insert($1, at: $0) }
  }

  /// The place of each user among the entries of one version.
  private struct Places {
    private let entries: [Entry]
    private let areNew: Bool
    /// nil for a few entries: most versions differ in one row, and searching is faster than hashing.
    private let many: [User.ID: Int]?

    init(_ entries: [Entry], areNew: Bool) {
      (self.entries, self.areNew) = (entries, areNew)
      let places = entries.enumerated().lazy.filter { $1.isNew == areNew }.map { ($1.row.id, $0) }
      many = entries.count <= 16 ? nil : Dictionary(uniqueKeysWithValues: places)
    }

    subscript(_ id: User.ID) -> Int? {
      if let many { return many[id] }
      return entries.firstIndex { $0.isNew == areNew && $0.row.id == id }
    }
  }

  /// Numbers at places, and the sum of those before a place, both in logarithmic time (a Fenwick tree).
  private struct Shifts {
    private var sums: [Int]

    init(count: Int) { sums = [Int](repeating: 0, count: count + 1) }

    mutating func add(_ shift: Int, at place: Int) {
      var index = place + 1
      while index < sums.count {
        sums[index] += shift
        index += index & -index
      }
    }

    func sum(before place: Int) -> Int {
      var (index, sum) = (place, 0)
      while index > 0 {
        sum += sums[index]
        index -= index & -index
      }
      return sum
    }
  }
}
