import TestSupport
import Testing

@testable import UserStore

/// After every statement of any writer, no two users have the same value of a unique attribute, and the log describes the tables.
@Suite(.bounded, .serialized) struct UniqueReplayTests {
  private static let unique = [
    AttributeIndex(on: "a", .unique), AttributeIndex(on: "b", .uniqueIgnoringCase),
    AttributeIndex(on: .name, .uniqueIgnoringCase),
    AttributeIndex(on: .hairColor, .unique),
  ]

  /// The objects of the library for these attributes.
  private static let rules = unique.flatMap(\.objects.values).sorted().joined(separator: ";\n")

  /// Runs random statements of foreign writers.
  ///
  /// - Returns: The first run that failed.
  private func failure(_ rules: String, settings: [WriterSettings], runs: UInt64) throws -> ReplayFailure? {
    for index in 0..<runs {
      let settings = settings[Int(index % UInt64(settings.count))]
      let run = ReplayRun(
        schema: Migrations.all, rules: rules, unique: Self.unique, settings: settings, seed: Seed.base &+ index)
      if let failure = try run.failure() { return failure }
    }
    return nil
  }

  @Test(arguments: WriterSettings.all)
  func `no statement gives two users the same value`(settings: WriterSettings) throws {
    let failure = try failure(Self.rules, settings: [settings], runs: 3 * UInt64(Repetitions.count))
    if let failure { Issue.record("\(failure)") }
  }

  /// Rules that do not hold: all of them with `USERSTORE_RUNS=50`, otherwise two, which the seed chooses.
  private static let controls = {
    let controls = [
      ("CREATE UNIQUE INDEX u ON attributes (value) WHERE name = 'a'", "a UNIQUE index displaces rows past the log"),
      (rules.replacing("AFTER INSERT ON attributes", with: "AFTER INSERT ON spare"), "nothing checks a new attribute"),
      (
        rules.replacing("AFTER UPDATE OF value ON attributes", with: "AFTER UPDATE ON spare"),
        "nothing checks a changed attribute"
      ),
      (rules.replacing("AFTER INSERT ON users", with: "AFTER INSERT ON spare"), "nothing checks a new user"),
      (rules.replacing("AFTER UPDATE OF name ON users", with: "AFTER UPDATE ON spare"), "nothing checks a new name"),
      (rules.replacing(" = NEW.value COLLATE NOCASE", with: " = NEW.value"), "case is not ignored"),
    ]
    if Repetitions.count >= 50 { return controls }
    return (0..<2).map { controls[Int((Seed.base &+ 3 * $0) % UInt64(controls.count))] }
  }()

  /// Proves that the test can fail.
  @Test(arguments: controls)
  func `the test notices that`(rules: String, what: String) throws {
    // The controls' triggers are on a table that nobody writes.
    let spare = "CREATE TABLE spare (name, value, user_id, id, hair_color); "
    let failure = try failure(spare + rules, settings: WriterSettings.all, runs: 2_000)
    #expect(failure != nil, "none of 2,000 runs noticed it")
  }
}
