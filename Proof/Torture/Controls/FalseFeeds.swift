import TortureSupport

/// The output of watchers, falsified as a faulty watcher would print it.
struct FalseFeeds {
  let what: String
  let promise: any FeedPromise.Type
  /// Falsifies one run.
  ///
  /// Returns false if the run has nothing to falsify.
  let falsify: (_ run: inout WatchOutput, _ next: inout WatchOutput?, _ random: inout SplitMix64) -> Bool

  /// The number of random places at which each is tried.
  private static let tries = 25

  static func run(on evidence: Evidence, _ random: inout SplitMix64, _ report: inout Report) {
    for falsehood in all(evidence.record) {
      var (done, flagged) = (0, 0)
      for _ in 0..<tries * 20 where done < tries {
        guard let feed = falsehood.falsified(evidence.feeds, &random) else { continue }
        done += 1
        if !falsehood.promise.violations(in: feed, evidence.record).isEmpty { flagged += 1 }
      }
      report.control(falsehood.what, wasFlagged: done > 0 && flagged == done, "\(flagged) of \(done)")
    }
  }

  /// A random run of a random watcher, falsified, and the run after it.
  private func falsified(_ feeds: [Feed], _ random: inout SplitMix64) -> Feed? {
    guard var feed = feeds.randomElement(using: &random), !feed.runs.isEmpty else { return nil }
    let number = Int.random(in: feed.runs.indices, using: &random)
    var run = feed.runs[number]
    var next = number + 1 < feed.runs.count ? feed.runs[number + 1] : nil
    guard falsify(&run, &next, &random) else { return nil }
    feed.runs = [run] + (next.map { [$0] } ?? [])
    return feed
  }

  private static func all(_ record: Record) -> [FalseFeeds] {
    [
      FalseFeeds(what: "a set is divided", promise: Atomic.self) { run, _, random in
        run.change(&random) { sets, at, random in
          // A set may be divided between two foreign transactions.
          guard let cut = sets[at].places.indices.dropFirst().randomElement(using: &random),
            let end = sets[at].places[cut - 1], let next = sets[at].places[cut],
            record.transaction(of: end) == record.transaction(of: next)
          else { return false }
          let rest = ReportedSet(
            revision: sets[at].revision, places: Array(sets[at].places[cut...]),
            summaries: Array(sets[at].summaries[cut...]))
          sets[at] = ReportedSet(
            revision: end, places: Array(sets[at].places[..<cut]), summaries: Array(sets[at].summaries[..<cut]))
          sets.insert(rest, at: at + 1)
          return true
        }
      },
      FalseFeeds(what: "a set is reported twice", promise: Unique.self) { run, _, random in
        run.change(&random) { sets, at, _ in
          sets.insert(sets[at], at: at)
          return true
        }
      },
      FalseFeeds(what: "two sets are swapped", promise: Ordered.self) { run, _, random in
        run.change(&random) { sets, at, _ in
          guard at + 1 < sets.count else { return false }
          sets.swapAt(at, at + 1)
          return true
        }
      },
      FalseFeeds(what: "two changes in a set are swapped", promise: Ordered.self) { run, _, random in
        run.change(&random) { sets, at, _ in
          guard sets[at].places.count > 1 else { return false }
          sets[at].places.swapAt(0, sets[at].places.count - 1)
          return true
        }
      },
      FalseFeeds(what: "a set is left out", promise: Gapless.self) { run, _, random in
        run.change(&random) { sets, at, _ in
          guard at > 0, at + 1 < sets.count else { return false }
          sets.remove(at: at)
          return true
        }
      },
      FalseFeeds(what: "the first set of a resumed run is left out", promise: Resumed.self) { run, _, _ in
        guard run.start != nil, run.parts.first?.sets.count ?? 0 > 1 else { return false }
        run.parts[0].sets.removeFirst()
        return true
      },
      FalseFeeds(what: "the last saved set is repeated", promise: Resumed.self) { run, next, _ in
        guard var again = next, again.start != nil, again.parts.first?.snapshot.isEmpty == true,
          let last = run.parts.last?.sets.last(where: { $0.revision == run.saved })
        else { return false }
        again.parts[0].sets.insert(last, at: 0)
        next = again
        return true
      },
      FalseFeeds(what: "the saved cursor is off by one", promise: Resumed.self) { run, next, random in
        guard let saved = run.saved, saved != run.start, saved > 1 else { return false }
        run.saved = saved + random.choose(-1, 1)
        next = nil
        return !run.parts.contains { part in
          part.snapshotRevision == run.saved || part.sets.contains { $0.revision == run.saved }
        }
      },
      FalseFeeds(what: "a set that was not reported is saved", promise: Resumed.self) { run, next, _ in
        guard let last = run.parts.last?.sets.last, last.revision == run.saved else { return false }
        run.parts[run.parts.count - 1].sets.removeLast()
        next = nil
        return true
      },
      FalseFeeds(what: "a change that was rolled back is reported", promise: OnlyCommitted.self) { run, _, random in
        run.change(&random) { sets, at, _ in
          sets[at].places[0] = nil
          return true
        }
      },
      FalseFeeds(what: "a line of the state after a reset is missing", promise: RightlyReset.self) { run, _, _ in
        let index = run.parts.firstIndex { $0.snapshot.count > 1 && !$0.sets.isEmpty }
        guard let index else { return false }
        run.parts[index].snapshot.removeLast()
        return true
      },
      FalseFeeds(what: "a watcher is reset without a reason", promise: RightlyReset.self) { run, _, _ in
        guard run.parts[0].snapshot.isEmpty else { return false }
        run.parts[0].reset = "diverged"
        return true
      },
    ]
  }
}

extension WatchOutput {
  /// Changes the sets of a random part, at a random set that was saved.
  fileprivate mutating func change(
    _ random: inout SplitMix64, _ body: (inout [ReportedSet], _ at: Int, inout SplitMix64) -> Bool
  ) -> Bool {
    let candidates = parts.indices.filter { !parts[$0].sets.isEmpty }
    guard let part = candidates.randomElement(using: &random) else { return false }
    let saved = parts[part].sets.indices.filter { parts[part].sets[$0].revision <= self.saved ?? 0 }
    guard let at = saved.randomElement(using: &random) else { return false }
    return body(&parts[part].sets, at, &random)
  }
}
