import Foundation
import TortureSupport

/// A life of a store with a fault, in a process of its own.
struct LifeRun {
  struct Outcome {
    let end: Victim.End
    let announcements: [Announcement]
    let errorText: String
    let tally: FaultTally
  }

  /// The folder of the run: the store is in the folder `store`, and the notes of the run are next to it.
  var folder: String
  var fault = FileFault.none
  var seed: UInt64 = 1
  var isNormal = false
  var watches = false
  var isRecorded = false
  /// The limit of descriptors for the first half.
  var descriptors: Int?
  /// A deliberate error of the scenario.
  var defect: String?
  var role = "life"
  /// In milliseconds.
  var busyTimeout = 5_000

  var store: String { folder + "/store" }
  var record: String { folder + "/record" }
  private var tally: String { folder + "/" + role + ".tally" }

  /// How long a run may take on a busy machine.
  ///
  /// SQLite itself retries for up to ten seconds.
  static var deadline: Double { 60 }

  func run() throws -> Outcome {
    try prepare()
    return try runOn()
  }

  /// Runs on the files that an earlier run left.
  func runOn() throws -> Outcome {
    let victim = try start()
    return outcome(of: victim, victim.wait(seconds: Self.deadline))
  }

  func prepare() throws {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
  }

  func start() throws -> Victim {
    for end in [".out", ".err", ".tally"] { try? FileManager.default.removeItem(atPath: folder + "/" + role + end) }
    return try Victim(command, environment: environment, name: folder + "/" + role)
  }

  func outcome(of victim: Victim, _ end: Victim.End) -> Outcome {
    Outcome(
      end: end, announcements: victim.lines.compactMap { Announcement($0) }, errorText: victim.errorText,
      tally: FaultTally(path: tally))
  }

  private var command: [String] {
    var command = [Tools.scenario, store, "--role", role, "--seed", "\(seed)", "--busy", "\(busyTimeout)"]
    command += ["--durability", isNormal ? "normal" : "full", "--watches", watches ? "yes" : "no"]
    if let descriptors { command += ["--descriptors", "\(descriptors)"] }
    if let defect { command += ["--defect", defect] }
    return command
  }

  private var environment: [String: String] {
    var environment = fault.environment
    environment["LD_PRELOAD"] = Tools.faults
    environment["FAULTS_FOLDER"] = store
    environment["FAULTS_TALLY"] = tally
    if isRecorded {
      environment["FAULTS_RECORD"] = record
      environment["FAULTS_ACK"] = "1"
    }
    return environment
  }
}

/// The counters of the faults library (Faults/tally.h).
struct FaultTally {
  private(set) var operations = 0
  private(set) var allocations = 0
  private(set) var faults = 0
  /// The first operation that failed: a letter and a path.
  private(set) var hit = ""

  init(path: String) {
    guard let data = FileManager.default.contents(atPath: path), data.count >= 24 else { return }
    let numbers = (0..<3).map { index in
      data.dropFirst(index * 8).prefix(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }
    (operations, allocations, faults) = (Int(numbers[0]), Int(numbers[1]), Int(numbers[2]))
    hit = String(decoding: data.dropFirst(24).prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// The other programs that `scripts/torture` builds.
enum Tools {
  static var scenario: String { path("TORTURE_SCENARIO") }
  static var faults: String { path("TORTURE_FAULTS") }

  private static func path(_ variable: String) -> String { ProcessInfo.processInfo.environment[variable] ?? "" }

  static func check() throws {
    for path in [scenario, faults] where !FileManager.default.isExecutableFile(atPath: path) {
      throw Victim.Failure("run it with scripts/torture, which builds \(path)", ENOENT)
    }
  }
}
