import Foundation
import TortureSupport
import UserStore

/// Compares what a life left with what it announced.
final class LifeInspection {
  let run: LifeRun
  let outcome: LifeRun.Outcome
  var violations: [String] = []
  let claims: Claimed

  init(of run: LifeRun, _ outcome: LifeRun.Outcome) {
    self.run = run
    self.outcome = outcome
    claims = Claimed(outcome.announcements)
  }

  /// Returns the violations, each with a description of the run.
  func inspect() -> [String] {
    inspectEnd()
    inspectErrors()
    if run.isRecorded, !run.isNormal { violations += SyncedBeforeAcknowledged.violations(inRecordAt: run.record) }
    do { try inspectFiles() } catch { violations.append("\(error)") }
    return violations.map { "\(run) (\(outcome.tally.hit.replacing(run.store + "/", with: ""))): \($0)" }
  }

  func expect(_ isSo: Bool, _ what: @autoclosure () -> String) {
    if !isSo { violations.append(what()) }
  }

  // MARK: The process

  private func inspectEnd() {
    switch outcome.end {
    case .exit(0):
      expect(
        outcome.announcements.last == .ended,
        "it ended early, after \(outcome.announcements.last.map { "\($0)" } ?? "nothing")")
    case .signal(SIGKILL) where run.fault.isKill && outcome.tally.faults > 0: break
    case .hung(let stacks): violations.append("it hung:\n\(stacks)")
    case .exit, .signal, .stopped: violations.append("it ended with \(outcome.end): \(outcome.errorText.suffix(1_000))")
    }
  }

  private func inspectErrors() {
    let allowed = run.allowedCodes
    for (name, code, message) in claims.failed where !allowed.contains(code) {
      violations.append("\(name) failed with \(code): \(message)")
    }
    // A fault that occurs once causes at most one failure.
    let isSingle = run.fault.times == .once && run.descriptors == nil
    expect(!isSingle || claims.incidents <= 1, "one fault caused \(claims.incidents) failures: \(claims.failed)")
    inspectRecovery()
  }

  /// Checks that nothing fails after there are descriptors again.
  private func inspectRecovery() {
    guard let place = outcome.announcements.lastIndex(of: .done("limit")) else { return }
    for case .failed(let name, let code, let message) in outcome.announcements[place...] {
      violations.append("\(name) failed with \(code), although there were descriptors again: \(message)")
    }
  }

  // MARK: What is on disk

  var database: String { run.store + "/users.db" }

  private func inspectFiles() throws {
    guard FileManager.default.fileExists(atPath: database) else {
      return expect(!claims.isOpened, "the store was opened, but is not there")
    }
    try inspectDatabase()
    try inspectBackup()
    try inspectLeftovers()
    try inspectReopened()
  }
}

extension LifeRun: CustomStringConvertible {
  var description: String {
    let what = descriptors.map { "\($0) descriptors" } ?? (fault.at == 0 ? "no fault" : fault.description)
    let how = (isNormal ? ", normal" : ", full") + (watches ? ", watching" : "") + (defect.map { ", " + $0 } ?? "")
    return "seed \(seed)\(how), \(what)"
  }

  /// The codes that a failure may have.
  var allowedCodes: Set<String> {
    if descriptors != nil { return FileFault(kind: .error(EMFILE), at: 1).allowedCodes }
    return fault.at == 0 ? [] : fault.allowedCodes
  }
}
