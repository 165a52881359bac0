/// A watcher that is killed and resumed has what one has that never was.
///
/// It goes on right after what it saved, and saved nothing that it had not told. What was told and not saved comes again:
/// one set where each is saved.
enum Resumed: FeedPromise {
  static let text = "killed and resumed is as never killed: each set that was not saved comes again, no other"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    for (number, run) in feed.runs.enumerated() {
      let place = "\(feed.name), run \(number + 1)"
      for part in run.parts {
        guard let begin = part.snapshotRevision ?? (part.reset == nil ? run.start : nil) else { continue }
        let expected = record.log.firstChange(after: begin)
        if let first = part.sets.first?.places.first, first != expected {
          let words = "\(expected.map(String.init) ?? "none"), \(first.map(String.init) ?? "none") is told"
          violations.append("\(place): after revision \(begin) comes row \(words)")
        }
      }
      violations += savingViolations(of: run, feed.savesEachSet).map { "\(place): \($0)" }
    }
    for (number, (run, next)) in zip(feed.runs, feed.runs.dropFirst()).enumerated() where run.saved != next.start {
      violations.append("\(feed.name), run \(number + 2): saved was \(run.saved ?? 0), it begins at \(next.start ?? 0)")
    }
    return violations
  }

  private static func savingViolations(of run: Telling, _ savesEachSet: Bool) -> [String] {
    let sets = run.parts.flatMap(\.sets)
    var violations: [String] = []
    if run.saved != run.start, let saved = run.saved {
      let told = sets.map(\.revision) + run.parts.compactMap(\.snapshotRevision)
      if !told.contains(saved) { violations.append("\(saved) is saved, which was not told") }
    }
    if run.saved ?? 0 < run.start ?? 0 { violations.append("what is saved went back to \(run.saved ?? 0)") }
    let unsaved = sets.count { $0.revision > run.saved ?? 0 }
    if savesEachSet, unsaved > 1 { violations.append("\(unsaved) sets were told and not saved") }
    return violations
  }
}
