/// What was done and what was found, printed as it comes.
struct Report {
  private var failures: [String] = []
  private var harness = ""

  var hasFailed: Bool { !failures.isEmpty }

  mutating func begin(_ harness: String) {
    self.harness = harness
    print("== \(harness)")
  }

  /// What was done: so many kills, commits, images.
  func count(_ number: Int, _ what: String) {
    print("  \(what): \(number)")
  }

  /// A promise, and the first reasons why it does not hold, if there are any.
  mutating func judge(_ promise: String, _ violations: [String]) {
    print("  \(violations.isEmpty ? "holds " : "BROKEN")  \(promise)")
    for violation in violations.prefix(5) { print("    \(violation)") }
    if violations.count > 5 { print("    and \(violations.count - 5) more") }
    if !violations.isEmpty { failures.append("\(harness): \(promise)") }
  }

  /// A control: something that was broken on purpose must be noticed.
  mutating func control(_ what: String, wasFlagged: Bool, _ detail: String = "") {
    print("  \(wasFlagged ? "flagged" : "MISSED ")  control: \(what)\(detail.isEmpty ? "" : " (\(detail))")")
    if !wasFlagged { failures.append("\(harness): the control was missed: \(what)") }
  }

  func finish() {
    print(failures.isEmpty ? "every promise held" : "\(failures.count) broken:")
    for failure in failures { print("  \(failure)") }
  }
}
