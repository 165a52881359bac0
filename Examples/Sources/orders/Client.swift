import CLibPQ
import Foundation

/// A connection of a client that is not the store's, here libpq; PostgresNIO has the same steps.
final class Client {
  private let connection: OpaquePointer

  init(_ address: String) throws {
    connection = PQconnectdb(address)
    guard PQstatus(connection) == CONNECTION_OK else { throw failure(PQerrorMessage(connection)) }
  }

  deinit { PQfinish(connection) }

  /// Runs `body` in a transaction, which it undoes if it throws.
  func transaction(_ body: () throws -> Void) throws {
    try run("BEGIN")
    do { try body() } catch {
      try run("ROLLBACK")
      throw error
    }
    try run("COMMIT")
  }

  /// Runs a statement with parameters, and returns the first column of its rows.
  @discardableResult func run(_ sql: String, _ parameters: String...) throws -> [String] {
    let values = parameters.map { strdup($0) }
    defer { for value in values { free(value) } }
    let result = PQexecParams(
      connection, sql, Int32(values.count), nil, values.map { UnsafePointer($0) }, nil, nil, 0)
    defer { PQclear(result) }
    guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
      throw failure(PQresultErrorMessage(result))
    }
    return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
  }
}

/// What the server has answered.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

private func failure(_ message: UnsafePointer<CChar>?) -> Failure {
  Failure(description: message.map { String(cString: $0) } ?? "")
}
