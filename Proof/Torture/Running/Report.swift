import Foundation

/// What was done and what was found, printed as it comes.
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

  /// How far it is.
  func note(_ progress: String) {
    say("  … \(progress)")
  }

  /// What was done: so many kills, commits, images.
  func count(_ number: Int, _ what: String) {
    say("  \(what): \(number)")
  }

  /// A promise, and the first reasons why it does not hold, if there are any.
  mutating func judge(_ promise: String, _ violations: [String]) {
    say("  \(violations.isEmpty ? "holds " : "BROKEN")  \(promise)")
    for violation in violations.prefix(5) { say("    \(violation)") }
    if violations.count > 5 { say("    and \(violations.count - 5) more") }
    if !violations.isEmpty { failures.append("\(harness): \(promise)") }
  }

  /// A control: something that was broken on purpose must be noticed.
  mutating func control(_ what: String, wasFlagged: Bool, _ detail: String = "") {
    say("  \(wasFlagged ? "flagged" : "MISSED ")  control: \(what)\(detail.isEmpty ? "" : " (\(detail))")")
    if !wasFlagged { failures.append("\(harness): the control was missed: \(what)") }
  }

  func finish() {
    say(failures.isEmpty ? "every promise held" : "\(failures.count) broken:")
    for failure in failures { say("  \(failure)") }
  }

  /// At once, also into a file: who is killed has said how far it was.
  private func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}
