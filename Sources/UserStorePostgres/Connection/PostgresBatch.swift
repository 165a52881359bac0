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

  /// Adds a statement, and returns its result, which is complete when the batch has succeeded.
  ///
  /// - Throws: `.badValue`; `.unexpected` if the values are not those of the statement's parameters.
  @discardableResult
  mutating func add(_ statement: PostgresStatement, _ values: PostgresValue...) throws(PostgresError) -> PostgresResult
  {
    try add(statement, values)
  }

  @discardableResult
  mutating func add(_ statement: PostgresStatement, _ values: [PostgresValue]) throws(PostgresError) -> PostgresResult {
    guard values.count == statement.types.count else {
      let counts = "the statement has \(statement.types.count) parameters, but got \(values.count) values"
      throw PostgresError(.unexpected, counts, purpose: statement.purpose)
    }
    let first = parameters.offsets.count
    for (index, value) in values.enumerated() {
      if let type = value.type, type != statement.types[index] {
        let types = "parameter $\(index + 1) is \(statement.types[index]), but the value is \(type)"
        throw PostgresError(.unexpected, types, purpose: statement.purpose)
      }
      try parameters.append(value, purpose: statement.purpose)
    }
    let result = PostgresResult(of: statement)
    entries.append(Entry(statement: statement, firstParameter: first, result: result))
    return result
  }
}
