/// The statements that a connection keeps prepared.
///
/// Not `Sendable`: it belongs to its connection.
final class StatementCache {
  /// By the numbers of their queries.
  private var statements: [PreparedStatement?] = []

  /// The statement of a query, prepared at its first use.
  func prepared(_ query: Query, on handle: OpaquePointer) throws(StoreError) -> PreparedStatement {
    if query.index < statements.count, let statement = statements[query.index] { return statement }
    while statements.count <= query.index { statements.append(nil) }
    let statement = PreparedStatement(unsafe try Statement(query, on: handle, isKept: true))
    statements[query.index] = statement
    return statement
  }

  /// Finalizes all: the connection closes right after.
  func finish() {
    statements = []
  }
}

/// A box, because an array holds no noncopyable values.
///
/// A constant in it, and no method of a connection or a statement that mutates: each use of a variable of a class is
/// checked for being the only one, which was 5 % of the instructions of a small write.
final class PreparedStatement {
  let statement: Statement

  init(_ statement: consuming Statement) {
    self.statement = statement
  }
}
