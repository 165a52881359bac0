/// Statements that are sent together and answered in one round trip.
///
/// The server runs them in order, and skips the rest after one fails. Outside of a transaction, a batch without BEGIN or COMMIT
/// is a transaction of its own.
struct PostgresBatch {
  struct Entry {
    let statement: PostgresStatement
    let firstParameter: Int
    let result: PostgresResult
  }

  private(set) var entries: [Entry] = []
  private(set) var parameters = ParameterBuffer()
  /// The error of the first value that cannot be stored; then nothing is sent.
  private(set) var failure: PostgresError?

  /// Adds a statement, and returns its result, which is complete after the batch has succeeded.
  @discardableResult
  mutating func add(_ statement: PostgresStatement, _ values: PostgresValue...) -> PostgresResult {
    add(statement, values)
  }

  @discardableResult
  mutating func add(_ statement: PostgresStatement, _ values: [PostgresValue]) -> PostgresResult {
    precondition(values.count == statement.types.count, "the values are not those of the statement's parameters")
    let first = parameters.offsets.count
    for (value, type) in zip(values, statement.types) {
      precondition(value.type == nil || value.type == type, "the value is not of the parameter's type")
      if let reason = parameters.append(value) {
        failure = failure ?? PostgresError(.badValue, reason, purpose: statement.purpose)
      }
    }
    let result = PostgresResult(of: statement)
    entries.append(Entry(statement: statement, firstParameter: first, result: result))
    return result
  }
}
