import UserStore

extension StoreError {
  /// Creates the error of the store for a connection's error, unless the connection was lost during a COMMIT.
  init(_ error: PostgresError) { self.init(Self.code(of: error), error) }

  /// Creates the error for an open store, in which an unreachable server counts as a lost connection.
  init(inOpenStore error: PostgresError) {
    self.init(error.kind == .cannotConnect ? .connectionLost : Self.code(of: error), error)
  }

  init(unknown error: StoreError) {
    let message = "it is unknown whether the last write was committed: \(error.message)"
    self.init(.commitUnknown, message, hint: error.hint, cause: error.cause)
  }

  private init(_ code: Code, _ error: PostgresError) {
    self.init(code, error.withoutHint, hint: error.hint, cause: error)
  }

  var postgres: PostgresError? { cause as? PostgresError }

  /// The error for a key of another table that is checked at the end of the transaction.
  var ofCommit: StoreError {
    guard let postgres, postgres.violatesKey else { return self }
    return StoreError(
      .stillReferenced, "the write cannot be committed: another table refers to a user that does not exist any more",
      cause: postgres)
  }

  static func replica(_ cause: (any Error)? = nil) -> StoreError {
    StoreError(.readOnly, "the server is a replica", hint: PostgresConnection.replicaHint, cause: cause)
  }

  static func needsMigration(_ what: String, _ error: StoreError? = nil) -> StoreError {
    StoreError(
      .schemaTooOld, "the database has no \(what) yet: the owner of the schema must open it for writing once",
      cause: error?.cause)
  }

  private static func code(of error: PostgresError) -> Code {
    switch error.kind {
    case .connectionLost, .timeout: .connectionLost
    case .unreplicated: .commitUnknown
    case .cannotConnect: .cannotOpen
    case .interrupted: .closed
    case .badValue: .badValue
    case .server(let state): code(of: state)
    case .unexpected: .unexpected
    }
  }

  /// The codes are in appendix A of PostgreSQL's documentation.
  private static func code(of state: SQLState) -> Code {
    switch state.rawValue {
    case "55P03", "40001", "40P01", "57014": .busy
    case "25P02": .transactionEnded
    case "25006": .readOnly
    case "42501", "28000", "28P01": .noPermission
    case "53100": .diskFull
    case "53200": .outOfMemory
    case "53300", "57P03": .cannotOpen
    case "3D000", "3F000", "42P01": .notAUserStore
    case "XX001", "XX002": .corrupt
    case let text where text.hasPrefix("22"): .badValue
    case let text where text.hasPrefix("23"): .conflict
    default: .unexpected
    }
  }
}
