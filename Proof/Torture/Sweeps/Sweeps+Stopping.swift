import Foundation
import TortureSupport

/// Processes that stop, as in a debugger or when a laptop sleeps. Others must not hang, and must fail only with busy.
extension Sweeps {
  /// Stops a life at every operation, lets another process use the store, and continues the life.
  static func sweepStops(
    of life: LifeRun, _ plan: Plan, in workplace: Workplace, _ random: inout SplitMix64, _ report: inout Report
  ) throws {
    let operations = judge(life, in: workplace.folder + "/counted").operations
    let runs = (1...max(1, operations)).map { life.with(FileFault(kind: .stop, at: $0)) }.shuffled(using: &random)
    let deadline = plan.isLong ? Date.distantFuture : Date(timeIntervalSinceNow: 1.5)
    let results = workplace.perform(runs, until: deadline) { folder, run in stop(run, in: folder) }
    report.count(results.count, "stops, of \(runs.count)")
    report.count(results.count { $0.wasBusy }, "of them with a lock that another process waited for")
    report.judge(
      "a process may stop at any operation: others succeed or get busy in time, and it continues",
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

  /// Checks a life that ended before its stop, because the number of operations varies a little.
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

  /// A visitor may fail only with busy.
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
    judge("while a writer is stopped with the lock, others get busy, and write after it", &report) { try holder(life) }
    judge("a stopped reader does not block writers", &report) { try stopped("reader", beside: life) }
    judge("a stopped watcher does not block writers, and misses nothing", &report) {
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

  /// Runs a whole life next to a process that is stopped, and continues that process.
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
    var received: Set<String> = []
    while !received.contains(last.cursor), Date() < deadline {
      let sets = watcher.lines.compactMap { Announcement($0) }
      received = Set(sets.compactMap { if case .told(let set) = $0 { set.cursor } else { nil } })
      usleep(2_000)
    }
    watcher.endInput()
    // If the log was compacted past its position, it receives a reset instead.
    let wasReset = watcher.lines.contains { $0.contains(" reset") }
    let missed = wasReset ? [] : written.filter { !received.contains($0.cursor) }
    return missed.map { "it did not receive \($0.name)" } + ended(watcher)
  }
}
