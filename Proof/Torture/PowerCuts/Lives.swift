import Foundation
import TortureSupport

/// Runs lives, and records what they do to their files.
struct Lives {
  private let scratch: Scratch
  private let scenario: String
  private let faults: String

  init(in scratch: Scratch) throws {
    self.scratch = scratch
    let environment = ProcessInfo.processInfo.environment
    guard let faults = environment["TORTURE_FAULTS"], let scenario = environment["TORTURE_SCENARIO"] else {
      throw TortureError("TORTURE_FAULTS or TORTURE_SCENARIO is missing; scripts/torture sets them")
    }
    self.faults = faults
    self.scenario = scenario
  }

  /// A difference from a normal life.
  enum Trouble: Equatable {
    case none
    /// The sync of a file with this number fails.
    case failingSync(Int)
    /// The life starts with a store of an older version.
    case olderStore
  }

  /// Runs a life, and returns the path of the record.
  func record(seed: UInt64, isNormal: Bool, _ trouble: Trouble = .none) throws -> String {
    let mode = isNormal ? "normal" : "full"
    let name = "\(scratch.folder)/\(mode)-\(seed)\(trouble.word)"
    let record = name + ".record"
    try? FileManager.default.removeItem(atPath: record)
    try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: name) }
    var variables = ["LD_PRELOAD": faults, "FAULTS_FOLDER": name, "FAULTS_RECORD": record, "FAULTS_ACK": "1"]
    if case .failingSync(let number) = trouble {
      variables.merge(["FAULTS_OPS": "s", "FAULTS_AT": String(number), "FAULTS_DO": "fail"]) { $1 }
    }
    if trouble == .olderStore { try Data(OlderStore(in: name).record).write(to: URL(filePath: record)) }
    let child = try Child(
      [scenario, name, "--seed", String(seed), "--durability", mode], environment: variables, group: scratch.group)
    let lines = child.output.rest()
    let status = child.wait()
    guard status == 0, lines.suffix(6) == ArraySlice("ended\n".utf8) else {
      throw TortureError("the life ended with \(status): \(String(decoding: child.errors.rest(), as: UTF8.self))")
    }
    return record
  }
}

extension Lives.Trouble {
  fileprivate var word: String {
    switch self {
    case .none: ""
    case .failingSync(let number): "-sync\(number)"
    case .olderStore: "-older"
    }
  }
}
