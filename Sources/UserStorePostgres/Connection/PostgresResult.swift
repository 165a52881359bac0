import CUserStoreLibPQ

/// The result of a statement: the only owner of libpq's result, which holds all rows.
///
/// It remains valid after the connection ends.
@safe final class PostgresResult {
  private(set) var handle: OpaquePointer?
  private let purpose: String
  /// The number of rows.
  var count: Int { unsafe Int(PQntuples(handle)) }
  private var columns: Int32 { unsafe PQnfields(handle) }

  init(of statement: PostgresStatement) { purpose = statement.purpose }

  deinit { unsafe PQclear(handle) }

  /// Whether the statement has succeeded.
  var isComplete: Bool { unsafe handle != nil }

  /// Takes over libpq's result.
  func complete(_ new: OpaquePointer) {
    unsafe PQclear(handle)
    unsafe handle = new
  }

  /// The number of rows that an INSERT, UPDATE, DELETE or MERGE changed, or a SELECT returned.
  var affectedRows: Int {
    guard let text = unsafe PQcmdTuples(handle) else { return 0 }
    return unsafe Int(String(cString: text)) ?? 0
  }

  /// Returns a row, counted from 0.
  subscript(row: Int) -> PostgresRow {
    precondition(row >= 0 && row < count, "the result has no such row")
    return PostgresRow(result: self, row: Int32(row))
  }

  /// The first row; nil if there is none.
  var first: PostgresRow? { count > 0 ? self[0] : nil }

  /// Calls `body` with each row until it returns false, and returns whether it never did.
  @discardableResult
  func each(while body: (PostgresRow) throws(PostgresError) -> Bool) throws(PostgresError) -> Bool {
    for row in 0..<Int32(count) where try !body(PostgresRow(result: self, row: row)) { return false }
    return true
  }

  /// Returns the bytes of a value, which are valid as long as the result; nil for null.
  ///
  /// - Throws: `.unexpected` if there is no such column, or if it is not in the binary format of the type.
  @unsafe @inline(__always)
  fileprivate func bytes(
    _ row: Int32, _ column: Int, _ type: PostgresType
  ) throws(PostgresError) -> UnsafeRawBufferPointer? {
    // -1 stands for all columns that there cannot be.
    let column = Int32(exactly: column) ?? -1
    guard column >= 0, column < columns, unsafe type.accepts(PQftype(handle, column)),
      unsafe PQfformat(handle, column) == 1
    else { throw mismatch(column, type) }
    if unsafe PQgetisnull(handle, row, column) == 1 { return nil }
    return unsafe UnsafeRawBufferPointer(
      start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
  }

  @inline(never) private func mismatch(_ column: Int32, _ type: PostgresType) -> PostgresError {
    guard column >= 0, column < columns else { return failure("the result has no such column") }
    return failure("column \(column) is not \(type), but has the type number \(unsafe PQftype(handle, column))")
  }

  @inline(never) fileprivate func failure(_ message: String) -> PostgresError {
    PostgresError(.unexpected, message, purpose: purpose)
  }
}

/// A row of a result, which it keeps in memory.
///
/// The methods read a column, counted from 0. They throw `.unexpected` if the column has another type, and those that do not
/// return an optional also if it is null.
struct PostgresRow {
  let result: PostgresResult
  let row: Int32

  func int8OrNil(_ column: Int) throws(PostgresError) -> Int64? { try integer(column, .int8) }
  func int4OrNil(_ column: Int) throws(PostgresError) -> Int32? { try integer(column, .int4) }
  func int2OrNil(_ column: Int) throws(PostgresError) -> Int16? { try integer(column, .int2) }
  func xid8OrNil(_ column: Int) throws(PostgresError) -> UInt64? { try integer(column, .xid8) }

  func float8OrNil(_ column: Int) throws(PostgresError) -> Double? {
    let pattern: UInt64? = try integer(column, .float8)
    return pattern.map(Double.init(bitPattern:))
  }

  func boolOrNil(_ column: Int) throws(PostgresError) -> Bool? {
    let byte: UInt8? = try integer(column, .bool)
    return byte.map { $0 != 0 }
  }

  /// The microseconds since 1970; `Int64.max` and `Int64.min` for PostgreSQL's `infinity` and `-infinity`.
  func timestamptzOrNil(_ column: Int) throws(PostgresError) -> Int64? {
    let microseconds: Int64? = try integer(column, .timestamptz)
    // The type's last times, in the year 294247, are above those of `Int64`.
    return microseconds.map { time in
      if time == .max || time == .min { return time }
      let (sum, overflows) = time.addingReportingOverflow(PostgresType.epoch)
      return overflows ? .max : sum
    }
  }

  /// The text; PostgreSQL has checked that it is UTF-8.
  func textOrNil(_ column: Int) throws(PostgresError) -> String? {
    guard let bytes = unsafe try result.bytes(row, column, .text) else { return nil }
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  func byteaOrNil(_ column: Int) throws(PostgresError) -> [UInt8]? {
    guard let bytes = unsafe try result.bytes(row, column, .bytea) else { return nil }
    return unsafe Array(bytes)
  }

  func int8(_ column: Int) throws(PostgresError) -> Int64 { try present(int8OrNil(column), column) }
  func int4(_ column: Int) throws(PostgresError) -> Int32 { try present(int4OrNil(column), column) }
  func int2(_ column: Int) throws(PostgresError) -> Int16 { try present(int2OrNil(column), column) }
  func xid8(_ column: Int) throws(PostgresError) -> UInt64 { try present(xid8OrNil(column), column) }
  func float8(_ column: Int) throws(PostgresError) -> Double { try present(float8OrNil(column), column) }
  func bool(_ column: Int) throws(PostgresError) -> Bool { try present(boolOrNil(column), column) }
  func timestamptz(_ column: Int) throws(PostgresError) -> Int64 { try present(timestamptzOrNil(column), column) }
  func text(_ column: Int) throws(PostgresError) -> String { try present(textOrNil(column), column) }
  func bytea(_ column: Int) throws(PostgresError) -> [UInt8] { try present(byteaOrNil(column), column) }

  /// Calls `body` with the bytes of a `bytea` or `text` column, without a copy; nil for null.
  func withBytes<Value>(
    _ column: Int, as type: PostgresType = .bytea, _ body: (RawSpan?) throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    guard let bytes = unsafe try result.bytes(row, column, type) else { return try body(nil) }
    return try withExtendedLifetime(result) { () throws(PostgresError) in
      let span = unsafe RawSpan(_unsafeBytes: bytes)
      return try body(span)
    }
  }

  @inline(__always)
  private func integer<Integer: FixedWidthInteger>(
    _ column: Int, _ type: PostgresType
  ) throws(PostgresError) -> Integer? {
    guard let bytes = unsafe try result.bytes(row, column, type) else { return nil }
    guard bytes.count == MemoryLayout<Integer>.size else {
      throw result.failure("the \(type) in column \(column) has \(bytes.count) bytes")
    }
    return unsafe Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
  }

  @inline(__always)
  private func present<Value>(_ value: Value?, _ column: Int) throws(PostgresError) -> Value {
    guard let value else { throw result.failure("column \(column) is null") }
    return value
  }
}
