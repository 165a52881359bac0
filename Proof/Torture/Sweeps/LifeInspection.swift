import Foundation
import TortureSupport
import UserStore

/// What is left of a life, held against what was announced in it.
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

  /// - Returns: what is not as it should be, each with the run that it came of.
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
    // One that passes does harm once, and no later.
    let isSingle = run.fault.times == .once && run.descriptors == nil
    expect(!isSingle || claims.incidents <= 1, "one fault, but \(claims.incidents) failures: \(claims.failed)")
    inspectRecovery()
  }

  /// Where there were no descriptors and are some again, all goes on.
  private func inspectRecovery() {
    guard let place = outcome.announcements.lastIndex(of: .done("limit")) else { return }
    for case .failed(let name, let code, let message) in outcome.announcements[place...] {
      violations.append("\(name) failed with \(code), though there were descriptors again: \(message)")
    }
  }

  // MARK: What is on disk

  var database: String { run.store + "/users.db" }

  private func inspectFiles() throws {
    guard FileManager.default.fileExists(atPath: database) else {
      return expect(!claims.isOpened, "the store was opened, and is not there")
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
    let how = (isNormal ? ", normal" : ", full") + (watches ? ", watching" : "") + (sin.map { ", " + $0 } ?? "")
    return "seed \(seed)\(how), \(what)"
  }

  /// With which codes something may fail.
  var allowedCodes: Set<String> {
    if descriptors != nil { return FileFault(kind: .error(EMFILE), at: 1).allowedCodes }
    return fault.at == 0 ? [] : fault.allowedCodes
  }
}
