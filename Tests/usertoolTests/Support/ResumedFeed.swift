import TestSupport
import Testing

/// What a watch with a cursor file printed, over many runs that were killed.
///
/// Each writer has a user of its own, and sets their name to `WRITER-i` and their attribute `n` to `i`, in one
/// transaction, for i from 1.
struct ResumedFeed {
  /// Up to the saved cursor: what a consumer has, each once.
  private var lines: [Line] = []
  /// The set whose lines came, and whose cursor did not: it comes again.
  private var unsaved: [Line] = []
  private var saved: Int64 = 0
  /// In how many runs something came again.
  private(set) var repeats = 0
  /// The last number of each writer's user.
  private(set) var numbers: [Int64: Int64] = [:]

  var count: Int { lines.count }

  /// Takes what a run printed, and the revision that its cursor file then held.
  mutating func take(_ run: [Line], saved next: Int64, sourceLocation: SourceLocation = #_sourceLocation) {
    let revisions = run.map { $0.revision ?? 0 }
    #expect(revisions.allSatisfy { $0 > saved }, "what was saved does not come again", sourceLocation: sourceLocation)
    #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 <= $1 }, sourceLocation: sourceLocation)
    // Not by revision: more of a foreign writer's may have come, which then is in the same set.
    let isRepeated = zip(unsaved, run).allSatisfy { $0.summary == $1.summary }
    #expect(isRepeated, "what was not saved comes again, first and the same", sourceLocation: sourceLocation)
    if !unsaved.isEmpty, !run.isEmpty { repeats += 1 }
    let beyond = run.filter { ($0.revision ?? 0) > next }
    #expect(Set(beyond.map(\.revision)).count <= 1, "one set at most is not saved", sourceLocation: sourceLocation)
    lines += run.filter { ($0.revision ?? 0) <= next }
    unsaved = next == saved && unsaved.count > beyond.count ? unsaved : beyond
    saved = next
  }

  /// After the last run, which ended by itself: checks all that came.
  mutating func check() throws {
    var set: [Line] = []
    for line in lines + unsaved {
      if line.revision != set.last?.revision { try checkSet(set) }
      if line.revision != set.last?.revision { set = [] }
      set.append(line)
    }
    try checkSet(set)
  }

  /// A set holds whole transactions, and each goes on where the one before it ended.
  private mutating func checkSet(_ set: [Line]) throws {
    for (user, changes) in Dictionary(grouping: set, by: { $0.user ?? 0 }) {
      let names = changes.filter { $0.attribute == "name" }
      let values = changes.filter { $0.attribute == "n" }
      let last = numbers[user] ?? 0
      let expected = last..<last + Int64(names.count)
      let isWhole =
        values.map(\.old) == expected.map { .integer($0) } && values.map(\.new) == expected.map { .integer($0 + 1) }
        && names.map { $0.old.number } == expected.map { $0 } && names.map { $0.new.number } == expected.map { $0 + 1 }
      try #require(isWhole, "after \(last) of user \(user): \(changes.map(\.summary))")
      numbers[user] = expected.upperBound
    }
  }
}

extension Line.Value {
  /// What stands behind the last dash.
  fileprivate var number: Int64? {
    guard case .text(let text) = self else { return nil }
    return text.split(separator: "-").last.flatMap { Int64($0) }
  }
}
