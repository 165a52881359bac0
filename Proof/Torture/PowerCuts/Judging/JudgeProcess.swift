import Foundation
import TortureSupport

/// The main function of a judge, which is a child process because a damaged file may crash it.
struct JudgeProcess {
  /// The rules to check by.
  struct Rules: Hashable {
    var isNormal = false
    var isCareless = false

    var word: String { (isNormal ? "normal" : "full") + (isCareless ? "-careless" : "") }
  }

  private let history: LifeHistory
  private let claims: [Claims]
  private let rules: Rules

  /// Parses `RULES:RECORDING`, and reads the recording.
  init(_ word: String) throws {
    let parts = word.split(separator: ":" as Character, maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw TortureError("no rules and recording: \(word)") }
    rules = Rules(isNormal: parts[0].hasPrefix("normal"), isCareless: parts[0].hasSuffix("-careless"))
    let recording = try Recording(contentsOf: parts[1])
    history = try LifeHistory(of: recording, layingOut: "\(parts[1]).\(getpid())")
    claims = Claims.all(in: recording, of: history).map(\.claims)
  }

  /// Reads lines of `FOLDER CLAIMS SEED` until its input ends, checks the image in each folder, and prints the verdict.
  func run() {
    while let line = readLine() {
      let words = line.split(separator: " " as Character).map(String.init)
      guard words.count == 3, let index = Int(words[1]), let seed = UInt64(words[2]) else { return }
      var judge = ImageJudge(
        history: history, isNormal: rules.isNormal, isCareless: rules.isCareless, folder: words[0],
        claims: claims[index], random: SplitMix64(seed: seed))
      judge.judge()
      write(judge.verdict)
    }
  }

  /// Prints one line: `LOST DIVERGED`, and for each violation a tab, the promise, and the reason.
  private func write(_ verdict: Verdict) {
    let violations = verdict.violations.map { promise, reason in
      let words = reason.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(500)
      return "\t\(promise) \(words.split(separator: "\t" as Character).joined(separator: " "))"
    }
    let line = Array("\(verdict.lost) \(verdict.diverged)\(violations.joined())\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe Foundation.write(1, $0.baseAddress, $0.count) }
  }
}

extension Verdict {
  init?(_ line: String) {
    let parts = line.split(separator: "\t" as Character).map(String.init)
    let numbers = (parts.first ?? "").split(separator: " " as Character).compactMap { Int($0) }
    guard numbers.count == 2 else { return nil }
    (lost, diverged) = (numbers[0], numbers[1])
    for part in parts.dropFirst() {
      let words = part.split(separator: " " as Character, maxSplits: 1).map(String.init)
      guard let promise = Promise.allCases.first(where: { "\($0)" == words.first }) else { return nil }
      violations.append((promise, words.count > 1 ? words[1] : ""))
    }
  }
}
