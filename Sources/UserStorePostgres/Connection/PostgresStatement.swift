import Synchronization

/// A statement's text, its purpose, and the types of its parameters.
///
/// Make it once and keep it, for example in a static constant: each connection prepares it at its first use.
struct PostgresStatement: Sendable {
  enum Effect: Sendable {
    case none, begins, commits
  }

  /// Completes error messages: “cannot PURPOSE: …”.
  let purpose: String
  let text: String
  let types: [PostgresType]
  /// The types' catalog numbers, for libpq.
  let typeNumbers: [UInt32]
  let effect: Effect
  /// The position in each connection's list of prepared statements; -1 for a statement that runs once.
  let index: Int

  private static let count = Atomic(0)

  /// Creates a statement that each connection prepares at its first use.
  ///
  /// A BEGIN or COMMIT needs its `effect`, by which errors report whether the outcome is unknown.
  init(_ purpose: String, _ text: String, _ types: PostgresType..., effect: Effect = .none) {
    self.init(
      purpose: purpose, text: text, types: types, effect: effect, index: Self.count.add(1, ordering: .relaxed).oldValue)
  }

  init(_ purpose: String, _ text: String, types: [PostgresType]) {
    self.init(
      purpose: purpose, text: text, types: types, effect: .none, index: Self.count.add(1, ordering: .relaxed).oldValue)
  }

  /// Creates a statement that is parsed at each use.
  init(once purpose: String, _ text: String, _ types: PostgresType..., effect: Effect = .none) {
    self.init(purpose: purpose, text: text, types: types, effect: effect, index: -1)
  }

  init(once purpose: String, _ text: String, types: [PostgresType]) {
    self.init(purpose: purpose, text: text, types: types, effect: .none, index: -1)
  }

  private init(purpose: String, text: String, types: [PostgresType], effect: Effect, index: Int) {
    (self.purpose, self.text, self.types, self.effect, self.index) = (purpose, text, types, effect, index)
    typeNumbers = types.map { $0.rawValue }
  }

  static let begin = PostgresStatement("begin a transaction", "BEGIN ISOLATION LEVEL READ COMMITTED", effect: .begins)
  /// Begins a transaction whose reads all see the same state.
  static let beginReading = PostgresStatement(
    "begin a transaction", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", effect: .begins)
  static let commit = PostgresStatement("commit", "COMMIT", effect: .commits)
  static let rollback = PostgresStatement("roll back", "ROLLBACK")
  static let closeCursors = PostgresStatement("close cursors", "CLOSE ALL")
}

struct PreparedStatements {
  private var entries: [(name: String, generation: Int, isPrepared: Bool)] = []

  mutating func entry(_ index: Int) -> (name: String, isPrepared: Bool) {
    while entries.count <= index { entries.append(("u\(entries.count)", 0, false)) }
    return (entries[index].name, entries[index].isPrepared)
  }

  mutating func setPrepared(_ index: Int) { entries[index].isPrepared = true }

  /// Gives a statement a new name, under which its next use prepares it.
  ///
  /// The server keeps the old one until the connection ends; that is acceptable, since it happens only when the schema changes.
  mutating func forget(_ index: Int) {
    let generation = entries[index].generation + 1
    entries[index] = ("u\(index)_\(generation)", generation, false)
  }
}
