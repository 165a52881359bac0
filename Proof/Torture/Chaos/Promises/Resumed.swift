/// A watcher that is killed and resumed reports the same as a watcher that is never killed.
///
/// It resumes right after the position that it saved, and saves only positions of sets that it reported. A set that was
/// reported but not saved is reported again. If each set is saved, this is at most one.
enum Resumed: FeedPromise {
  static let text = "a killed watcher resumes right after its saved position, and repeats only sets that were not saved"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    for (number, run) in feed.runs.enumerated() {
      let place = "\(feed.name), run \(number + 1)"
      for part in run.parts {
        guard let begin = part.snapshotRevision ?? (part.reset == nil ? run.start : nil) else { continue }
        let expected = record.log.firstChange(after: begin)
        if let first = part.sets.first?.places.first, first != expected {
          let words = "\(expected.map(String.init) ?? "none"), but \(first.map(String.init) ?? "none") is reported"
          violations.append("\(place): the row after revision \(begin) is \(words)")
        }
      }
      violations += savingViolations(of: run, feed.savesEachSet).map { "\(place): \($0)" }
    }
    for (number, (run, next)) in zip(feed.runs, feed.runs.dropFirst()).enumerated() where run.saved != next.start {
      violations.append(
        "\(feed.name), run \(number + 2): starts at \(next.start ?? 0), but \(run.saved ?? 0) was saved")
    }
    return violations
  }

  private static func savingViolations(of run: WatchOutput, _ savesEachSet: Bool) -> [String] {
    let sets = run.parts.flatMap(\.sets)
    var violations: [String] = []
    if run.saved != run.start, let saved = run.saved {
      let reported = sets.map(\.revision) + run.parts.compactMap(\.snapshotRevision)
      if !reported.contains(saved) { violations.append("\(saved) was saved, but not reported") }
    }
    if run.saved ?? 0 < run.start ?? 0 { violations.append("the saved position went back to \(run.saved ?? 0)") }
    let unsaved = sets.count { $0.revision > run.saved ?? 0 }
    if savesEachSet, unsaved > 1 { violations.append("\(unsaved) sets were reported but not saved") }
    return violations
  }
}
