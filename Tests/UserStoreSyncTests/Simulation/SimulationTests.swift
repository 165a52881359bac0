import Foundation
import TestSupport
import Testing
import UserStore

/// Random histories of a server and its replicas.
///
/// `USERSTORE_HISTORIES` is their number (200, 100 in which replicas are written, and 20 of each kind with the server on PostgreSQL, in
/// `scripts/postgres run`), `USERSTORE_SEED` the first seed, and `USERSTORE_TRACE` prints each step. `USERSTORE_LONG` breaks every rule.
///
/// One test at a time, on threads that it may keep busy (see `SuiteThreads`).
@Suite(.serialized) struct SimulationTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let folder =
    (FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory())
    + "/userstore-sync-\(ProcessInfo.processInfo.processIdentifier)"

  static func history(
    _ seed: UInt64, fault: Fault? = nil, writes: Bool = false, steps: Int = 60, onPostgres: Bool = false
  ) async throws -> [String: Int] {
    let folder = "\(folder)/\(fault?.rawValue ?? "")\(writes ? "writes" : "")\(seed)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let database: any SimulatedDatabase = onPostgres ? try SimulatedPostgres() : SimulatedFile(in: folder)
    let world = try World(
      seed: seed, in: folder, at: database, fault: fault, writes: writes, traces: environment["USERSTORE_TRACE"] != nil)
    defer { world.close() }
    try await withTaskExecutorPreference(SuiteThreads.shared) { try await world.run(steps: writes ? 2 * steps : steps) }
    return world.counts
  }

  static let faults = Fault.allCases.filter { $0.isUsual || environment["USERSTORE_LONG"] != nil }

  @Test(arguments: faults) func `a broken rule is noticed`(_ fault: Fault) async throws {
    try await Self.notice(fault, onPostgres: false)
  }

  /// Of the messages, because the others change files of SQLite.
  @Test(.enabled(if: SimulatedPostgres.cluster != nil), arguments: [Fault.grantNotCompared, .subjectNotCompared])
  func `a broken rule is noticed on PostgreSQL`(_ fault: Fault) async throws {
    try await Self.notice(fault, onPostgres: true)
  }

  /// Some history must be wrong if a rule is broken.
  private static func notice(_ fault: Fault, onPostgres: Bool) async throws {
    // One of some hundreds notices the rarest; so many that no choice of seeds misses it.
    for seed in Seed.base..<Seed.base + 2_000 {
      do {
        _ = try await history(
          seed, fault: fault, writes: fault.writes, steps: fault.writes ? 60 : 150, onPostgres: onPostgres)
      } catch let error where error is Wrong || StoreError.Code.corrupt ~= error {
        // The judge has noticed it, or the replica, which says that its file is damaged.
        print("\(fault.rawValue): seed \(seed): \("\(error)".prefix(200))")
        return
      }
    }
    Issue.record("no history from seed \(Seed.base) on notices that \(fault.rawValue)")
  }

  @Test func `followed histories`() async throws { try await Self.histories(100, writes: false) }

  @Test func `written histories`() async throws { try await Self.histories(100, writes: true) }

  @Test(.enabled(if: SimulatedPostgres.cluster != nil)) func `followed on PostgreSQL`() async throws {
    try await Self.histories(10, writes: false, onPostgres: true)
  }

  @Test(.enabled(if: SimulatedPostgres.cluster != nil)) func `written on PostgreSQL`() async throws {
    try await Self.histories(10, writes: true, onPostgres: true)
  }

  private static func histories(_ usual: UInt64, writes: Bool, onPostgres: Bool = false) async throws {
    let count = environment["USERSTORE_HISTORIES"].flatMap { UInt64($0) } ?? usual
    var (counts, failed): ([String: Int], Int) = ([:], 0)
    for seed in Seed.base..<Seed.base + count {
      do {
        counts.merge(try await history(seed, writes: writes, onPostgres: onPostgres), uniquingKeysWith: +)
      } catch {
        failed += 1
        Issue.record("seed \(seed): \(error)")
        if failed == 5 { break }
      }
    }
    print(
      "\(count) histories\(writes ? " with writes" : "")\(onPostgres ? " on PostgreSQL" : ""):",
      counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
  }
}
