import TestSupport
import Testing

/// The output of a watch with a cursor file, over many runs that were killed.
///
/// Each writer has its own user, and sets the user's name to `WRITER-i` and the attribute `n` to `i` in one transaction,
/// for i from 1.
struct ResumedFeed {
  /// The lines up to the saved cursor, each once.
  private var lines: [Line] = []
  /// The lines of the set that was printed but not saved, and that must be printed again.
  private var unsaved: [Line] = []
  private var saved: Int64 = 0
  /// The number of runs in which lines were printed again.
  private(set) var repeats = 0
  /// The last number that each user got from its writer.
  private(set) var numbers: [Int64: Int64] = [:]

  var count: Int { lines.count }

  /// Adds the lines of a run, and the revision in its cursor file afterward.
  mutating func take(_ run: [Line], saved next: Int64, sourceLocation: SourceLocation = #_sourceLocation) {
    let revisions = run.map { $0.revision ?? 0 }
    #expect(revisions.allSatisfy { $0 > saved }, "saved lines are not printed again", sourceLocation: sourceLocation)
    #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 <= $1 }, sourceLocation: sourceLocation)
    // Compares the lines, not the revisions: further writes by the other programs may have extended the set.
    let isRepeated = zip(unsaved, run).allSatisfy { $0.summary == $1.summary }
    #expect(isRepeated, "unsaved lines are printed again, first and unchanged", sourceLocation: sourceLocation)
    if !unsaved.isEmpty, !run.isEmpty { repeats += 1 }
    let beyond = run.filter { ($0.revision ?? 0) > next }
    #expect(Set(beyond.map(\.revision)).count <= 1, "at most one set is not saved", sourceLocation: sourceLocation)
    lines += run.filter { ($0.revision ?? 0) <= next }
    unsaved = next == saved && unsaved.count > beyond.count ? unsaved : beyond
    saved = next
  }

  /// Checks all lines, after the last run.
  mutating func check() throws {
    var set: [Line] = []
    for line in lines + unsaved {
      if line.revision != set.last?.revision { try checkSet(set) }
      if line.revision != set.last?.revision { set = [] }
      set.append(line)
    }
    try checkSet(set)
  }

  /// Checks that a set contains whole transactions, and continues where the previous set ended.
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
  /// The number after the last dash.
  fileprivate var number: Int64? {
    guard case .text(let text) = self else { return nil }
    return text.split(separator: "-").last.flatMap { Int64($0) }
  }
}
