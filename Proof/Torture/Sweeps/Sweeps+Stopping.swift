import Foundation
import TortureSupport

/// Processes that stop (a debugger, a laptop that sleeps): others neither hang nor fail in a way that is not theirs.
extension Sweeps {
  /// Stops a life at any operation, lets another process come by, and goes on.
  static func sweepStops(
    of life: LifeRun, _ plan: Plan, in workplace: Workplace, _ random: inout SplitMix64, _ report: inout Report
  ) throws {
    let operations = judge(life, in: workplace.folder + "/counted").operations
    let runs = (1...max(1, operations)).map { life.with(FileFault(kind: .stop, at: $0)) }.shuffled(using: &random)
    let deadline = plan.isLong ? Date.distantFuture : Date(timeIntervalSinceNow: 1.5)
    let results = workplace.perform(runs, until: deadline) { folder, run in stop(run, in: folder) }
    report.count(results.count, "stops, of \(runs.count)")
    report.count(results.count { $0.wasBusy }, "of them with a lock that another process wanted")
    report.judge(
      "whoever stops, wherever: others get busy in time or what they want, and it goes on",
      results.flatMap(\.violations))
  }

  private struct Stop: Sendable {
    var violations: [String]
    var wasBusy = false
  }

  private static func stop(_ run: LifeRun, in folder: String) -> Stop {
    var run = run
    run.folder = folder
    do {
      try run.prepare()
      let victim = try run.start()
      let first = victim.wait(seconds: LifeRun.deadline)
      guard first == .stopped else { return Stop(violations: unstopped(run, run.outcome(of: victim, first))) }
      let visit = try visitor(of: run).runOn()
      victim.send(SIGCONT)
      let outcome = run.outcome(of: victim, victim.wait(seconds: LifeRun.deadline))
      let violations = LifeInspection(of: run, outcome).inspect() + violations(of: visit, "\(run)")
      return Stop(violations: violations, wasBusy: codes(visit).contains("busy"))
    } catch { return Stop(violations: ["\(run): \(error)"]) }
  }

  /// A life has a few operations more or less than the one that they were counted in: it may be over before.
  private static func unstopped(_ run: LifeRun, _ outcome: LifeRun.Outcome) -> [String] {
    guard outcome.end == .exit(0), outcome.tally.faults == 0 else { return ["\(run): it did not stop: \(outcome.end)"] }
    return LifeInspection(of: run, outcome).inspect()
  }

  private static func visitor(of run: LifeRun) -> LifeRun {
    var visitor = run.with(.none)
    (visitor.role, visitor.busyTimeout) = ("visitor", 50)
    return visitor
  }

  private static func codes(_ outcome: LifeRun.Outcome) -> [String] {
    outcome.announcements.compactMap { if case .failed(_, let code, _) = $0 { code } else { nil } }
  }

  /// A visitor may find the store busy, and nothing else.
  private static func violations(of visit: LifeRun.Outcome, _ when: String) -> [String] {
    let failures = visit.announcements.filter {
      if case .failed(_, let code, _) = $0 { code != "busy" } else { false }
    }
    let isOver = visit.end == .exit(0) && visit.announcements.last == .ended
    return failures.map { "\(when): a visitor: \($0)" }
      + (isOver ? [] : ["\(when): a visitor ended with \(visit.end): \(visit.errorText)"])
  }

  // MARK: Stopped for long

  static func judgeStopped(in workplace: Workplace, _ report: inout Report) {
    let life = LifeRun(folder: workplace.folder + "/stopped", seed: 7)
    judge("a writer that is stopped with the lock: others get busy, and write after it", &report) { try holder(life) }
    judge("a reader that is stopped keeps nobody from writing", &report) { try stopped("reader", beside: life) }
    judge("a watcher that is stopped keeps nobody from writing, and misses nothing", &report) {
      try stopped("watcher", beside: life)
    }
  }

  private static func judge(_ promise: String, _ report: inout Report, _ body: () throws -> [String]) {
    do { report.judge(promise, try body()) } catch { report.judge(promise, ["\(error)"]) }
  }

  private static func holder(_ life: LifeRun) throws -> [String] {
    try life.prepare()
    var holding = life
    holding.role = "holder"
    let holder = try holding.start()
    guard holder.wait(seconds: 30) == .stopped else { return ["it did not stop"] }
    let during = try visitor(of: life).runOn()
    holder.send(SIGCONT)
    let end = holder.wait(seconds: 30)
    let after = try visitor(of: life).runOn()
    var violations = violations(of: during, "during") + violations(of: after, "after")
    if codes(during) != ["busy"] { violations.append("during: \(during.announcements)") }
    if !codes(after).isEmpty || end != .exit(0) { violations.append("after: \(after.announcements), \(end)") }
    return violations
  }

  /// A whole life beside one that is stopped, which then goes on.
  private static func stopped(_ role: String, beside life: LifeRun) throws -> [String] {
    try life.prepare()
    _ = try visitor(of: life).runOn()
    var other = life
    (other.role, other.watches) = (role, true)
    let stopped = try other.start()
    if role == "watcher" {
      guard stopped.wait(for: "\(Announcement.done("watching"))", seconds: 30) else { return ["it did not watch"] }
      stopped.send(SIGSTOP)
    }
    guard stopped.wait(seconds: 30) == .stopped else { return ["it did not stop"] }
    let outcome = try life.runOn()
    stopped.send(SIGCONT)
    let violations = LifeInspection(of: life, outcome).inspect()
    return violations + (role == "watcher" ? missed(by: stopped, of: outcome) : ended(stopped))
  }

  private static func ended(_ victim: Victim) -> [String] {
    let end = victim.wait(seconds: 30)
    return end == .exit(0) ? [] : ["it ended with \(end)"]
  }

  private static func missed(by watcher: Victim, of outcome: LifeRun.Outcome) -> [String] {
    let written = LifeInspection.Claimed(outcome.announcements).written
    guard let last = written.last else { return ["nothing was written"] }
    let deadline = Date(timeIntervalSinceNow: 30)
    var told: Set<String> = []
    while !told.contains(last.cursor), Date() < deadline {
      let sets = watcher.lines.compactMap { Announcement($0) }
      told = Set(sets.compactMap { if case .told(let set) = $0 { set.cursor } else { nil } })
      usleep(2_000)
    }
    watcher.endInput()
    // What was forgotten meanwhile it is told of as a whole.
    let wasReset = watcher.lines.contains { $0.contains(" reset") }
    let missed = wasReset ? [] : written.filter { !told.contains($0.cursor) }
    return missed.map { "it was not told of \($0.name)" } + ended(watcher)
  }
}
