import UserStore

/// A session of the store on a connection to PostgreSQL.
///
/// A statement whose result is not needed at once is sent with the next one, so that a lone write takes two round trips.
///
/// Unchecked: the pool lends it to one thread at a time, and its lock orders their accesses.
final class PostgresSession: Session, @unchecked Sendable {
  let connection: PostgresConnection
  /// The part of the log that the store's sessions have read, and that a transaction on a replica must see.
  let progress: PostgresProgress
  let uniqueKeys: PostgresUniqueKeys
  /// The time to wait for a replica that is behind.
  let patience: Duration
  /// The time for finding out whether a COMMIT took effect whose reply was lost.
  var decisionLimit: Duration
  /// The end of the log that the transaction sees, if the server may be a replica.
  var snapshot: Snapshot?
  /// The statements to send before the next one, in the same round trip.
  var due: [Due] = []
  /// Whether a transaction was begun and not ended, even if the server has ended it.
  var hasBegun = false
  var write: Write?
  /// The end of the log after the last write of this session.
  var knownEnd: Cursor?
  var ahead: LogAhead?

  struct Due {
    let statement: PostgresStatement
    var values: [PostgresValue] = []
    var meaning = Meaning.nothing

    enum Meaning {
      case nothing, savepoint, start, snapshot
      /// The note that a replica has sent the set.
      case pushed
      /// The statement ends the set with this index; its result is the number of the set's last row.
      case end(Int)
    }
  }

  struct Snapshot {
    let epoch: Int64
    let end: Int64
    let isReplica: Bool
  }

  struct Write {
    /// The end of the log at its beginning, from which its own rows are counted until it has its place; nil until the server
    /// reports it.
    var start: Cursor?
    var sets: [WrittenSet] = []
    /// Whether something may have been logged since the last set ended.
    var mayHaveLogged = false
    /// The state that a rollback to each savepoint restores.
    var savepoints: [(sets: Int, mayHaveLogged: Bool, base: Int64?)] = []
    /// The place before the transaction's first row; nil until it is fixed.
    var base: Int64?

    var lastSet: WrittenSet? { sets.last { $0.number != nil } }
  }

  struct WrittenSet {
    let nonce: Int64
    /// The number of its last row; nil if it has no rows, or until the server reports it.
    var number: Int64?
  }

  /// Creates a session; `patience` is by default the settings' `lockTimeout`.
  init(
    _ connection: PostgresConnection, _ progress: PostgresProgress = PostgresProgress(),
    _ uniqueKeys: PostgresUniqueKeys = PostgresUniqueKeys(), patience: Duration? = nil
  ) {
    self.uniqueKeys = uniqueKeys
    self.connection = connection
    self.progress = progress
    let settings = connection.settings
    self.patience = patience ?? settings.lockTimeout ?? .zero
    decisionLimit =
      settings.connectTimeout + (settings.idleInTransactionTimeout ?? .zero) + (settings.lockTimeout ?? .zero)
  }

  static func own(_ session: any Session) -> PostgresSession {
    guard let own = session as? PostgresSession else { preconditionFailure("a session of another engine") }
    return own
  }

  private static let selectFindings = PostgresStatement(
    once: "check the database", #"SELECT severity, code, message, "user", attribute FROM userstore.check(true)"#)

  /// The server does the work; its codes are the library's kinds, except `engine`.
  func check() throws(StoreError) -> [Finding] {
    try all(Self.selectFindings) { row in
      Finding(
        severity: Finding.Severity(rawValue: row.text(0)) ?? .problem,
        kind: Finding.Kind(rawValue: row.text(1)) ?? .schema, message: row.text(2),
        user: row.int8OrNil(3).map { User.ID($0) }, attribute: row.textOrNil(4).map { AttributeName($0) })
    }
  }

  func prepareToClose() {
    connection.close()
  }
}
