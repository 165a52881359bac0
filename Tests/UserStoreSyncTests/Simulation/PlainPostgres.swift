import CUserStoreLibPQ
import TestSupport

/// A connection to a database of PostgreSQL without the library.
///
/// The schema `judge` has the tables as a file has them (see `SimulatedPostgres`). Its values are bytes that begin with their kind.
@safe final class PlainPostgres: PlainSQL {
  private let handle: OpaquePointer?

  init(_ address: String) throws {
    unsafe handle = PQconnectdb(address)
    guard unsafe PQstatus(handle) == CONNECTION_OK else { throw failure }
    try script("SET client_min_messages = warning; SET search_path = judge, userstore; SET bytea_output = hex")
  }

  deinit { unsafe PQfinish(handle) }

  func script(_ sql: String) throws { try unsafe check(PQexec(handle, sql)) { _ in } }

  @discardableResult func run(_ sql: String, _ values: [PlainValue]) throws -> [[PlainValue]] {
    guard values.isEmpty else { throw Wrong("values are part of the text: \(sql)") }
    return try unsafe check(PQexec(handle, sql)) { result in
      unsafe (0..<PQntuples(result)).map { row in
        unsafe (0..<PQnfields(result)).map { column in unsafe Self.value(result, row, column) }
      }
    }
  }

  private func check<Result>(_ result: OpaquePointer?, _ read: (OpaquePointer?) -> Result) throws -> Result {
    defer { unsafe PQclear(result) }
    let status = unsafe PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else { throw failure }
    return unsafe read(result)
  }

  private var failure: Wrong { unsafe Wrong("PostgreSQL: \(String(cString: PQerrorMessage(handle)))") }

  private static func value(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) -> PlainValue {
    guard unsafe PQgetisnull(result, row, column) == 0 else { return .null }
    let text = unsafe String(cString: PQgetvalue(result, row, column))
    switch unsafe PQftype(result, column) {
    case 20, 21, 23: return .integer(Int64(text)!)
    case 17: return typed(text.dropFirst(2))
    default: return .text(Array(text.utf8))
    }
  }

  /// The value of hexadecimal digits: the kind, and then the number in decimal, or the bytes.
  private static func typed(_ digits: Substring) -> PlainValue {
    let all = Array(digits.utf8)
    let bytes = stride(from: 0, to: all.count, by: 2).map {
      UInt8(String(decoding: all[$0..<$0 + 2], as: UTF8.self), radix: 16)!
    }
    let rest = Array(bytes.dropFirst())
    let text = String(decoding: rest, as: UTF8.self)
    return switch bytes.first {
    case UInt8(ascii: "i"): .integer(Int64(text)!)
    case UInt8(ascii: "r"): .real(Double(text)!)
    case UInt8(ascii: "t"): .text(rest)
    default: .blob(rest)
    }
  }
}
