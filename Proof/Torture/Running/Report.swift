import Foundation

/// What was done and found, printed immediately.
struct Report {
  private var failures: [String] = []
  private var harness = ""

  var hasFailed: Bool { !failures.isEmpty }

  func begin(_ plan: Plan) {
    let options = "--seed \(plan.seed)" + (plan.isLong ? " --long" : "")
    say("seed \(plan.seed): scripts/torture \(options) makes the same choices")
  }

  mutating func begin(_ harness: String) {
    self.harness = harness
    say("== \(harness)")
  }

  /// Reports progress.
  func note(_ progress: String) {
    say("  … \(progress)")
  }

  /// Reports a number, such as of kills, commits, or images.
  func count(_ number: Int, _ what: String) {
    say("  \(what): \(number)")
  }

  /// Reports whether a promise holds, and if not, the first violations.
  mutating func judge(_ promise: String, _ violations: [String]) {
    say("  \(violations.isEmpty ? "holds " : "BROKEN")  \(promise)")
    for violation in violations.prefix(5) { say("    \(violation)") }
    if violations.count > 5 { say("    and \(violations.count - 5) more") }
    if !violations.isEmpty { failures.append("\(harness): \(promise)") }
  }

  /// Reports a control: whether something that was broken on purpose was flagged.
  mutating func control(_ what: String, wasFlagged: Bool, _ detail: String = "") {
    say("  \(wasFlagged ? "flagged" : "MISSED ")  control: \(what)\(detail.isEmpty ? "" : " (\(detail))")")
    if !wasFlagged { failures.append("\(harness): the control was missed: \(what)") }
  }

  func finish() {
    say(failures.isEmpty ? "every promise held" : "\(failures.count) broken:")
    for failure in failures { say("  \(failure)") }
  }

  /// Flushes at once, also into a file, so that a report that is killed is complete up to then.
  private func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}
