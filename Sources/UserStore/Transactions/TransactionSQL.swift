/// The statements that begin and end transactions.
enum TransactionSQL {
  static let begin = Query("BEGIN")
  /// Takes the write lock now: a transaction that takes it later fails when somebody else has written meanwhile.
  static let beginImmediate = Query("BEGIN IMMEDIATE")
  static let commit = Query("COMMIT")
  static let savepoint = Query("SAVEPOINT member")
  static let release = Query("RELEASE member")
  static let rollbackToSavepoint = Query("ROLLBACK TO member")
}
