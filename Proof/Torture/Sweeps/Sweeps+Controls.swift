import Foundation
import TortureSupport

/// Deliberate errors, which must be flagged.
extension Sweeps {
  static func runControls(of life: LifeRun, in workplace: Workplace, _ report: inout Report) throws {
    var run = life
    run.folder = workplace.folder + "/control"
    report.control("a write is announced before its commit", by: "acknowledged and is not in the log") { at in
      run.with(defect: "announcesEarly", FileFault(kind: .killBefore, at: at * 7, operations: "ws"))
    }
    report.control("an error is treated as success", by: "acknowledged and is not in the log") { at in
      run.with(defect: "ignoresErrors", FileFault(kind: .error(EIO), at: at * 5, operations: "ws"))
    }
    report.control("a failed sync is reported as successful", by: "before it was synced") { at in
      var run = run.with(FileFault(kind: .lie, at: at, operations: "s"), isRecorded: true)
      run.isNormal = false
      return run
    }
    controlRetry(run, &report)
  }

  /// The first process ends after a commit whose outcome is unknown, and the next one repeats the write.
  private static func controlRetry(_ life: LifeRun, _ report: inout Report) {
    var found: String?
    for at in 1...12 where found == nil {
      do {
        var run = life.with(defect: "retriesBlindly", .none)
        (run.role, run.isNormal) = ("visitor", false)
        try run.prepare()
        _ = try run.with(FileFault(kind: .error(EIO), at: at, operations: "s")).runOn()
        let outcome = try run.runOn()
        found = LifeInspection(of: run, outcome).inspect().first { $0.contains("is in the log twice") }
      } catch { return report.control("a write is repeated blindly", wasFlagged: false, "\(error)") }
    }
    report.control(
      "a write is repeated blindly after an unknown commit", wasFlagged: found != nil,
      found.map { Self.short($0) } ?? "")
  }

  fileprivate static func short(_ violation: String) -> String { String(violation.prefix(160)) }
}

extension LifeRun {
  fileprivate func with(defect: String, _ fault: FileFault) -> LifeRun {
    var run = with(fault)
    run.defect = defect
    return run
  }
}

extension Report {
  /// Tries one place after another until a violation contains the expected words.
  fileprivate mutating func control(_ what: String, by words: String, _ run: (_ at: Int) -> LifeRun) {
    for at in 1...40 {
      let judged = Sweeps.judge(run(at), in: run(at).folder)
      guard let found = judged.violations.first(where: { $0.contains(words) }) else { continue }
      return control(what, wasFlagged: true, Sweeps.short(found))
    }
    control(what, wasFlagged: false)
  }
}
