/// Statements that are sent together, and whose results come in one round trip.
///
/// The server runs them in their order, and skips those after the first that fails. Outside of a transaction, the batch is one
/// transaction of its own, unless it has a BEGIN or COMMIT.
struct PostgresBatch {
  struct Entry {
    let statement: PostgresStatement
    let firstParameter: Int
    let result: PostgresResult
  }

  private(set) var entries: [Entry] = []
  private(set) var parameters = ParameterBuffer()
  /// Why a value cannot be stored, the first one: then nothing is sent.
  private(set) var failure: PostgresError?

  /// Adds a statement, and returns its result, which is complete when the batch has succeeded.
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
