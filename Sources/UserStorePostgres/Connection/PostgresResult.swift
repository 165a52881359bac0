import CUserStoreLibPQ
import UserStore

/// The result of a statement, which alone owns libpq's result with all rows, and remains valid after the connection ends.
@safe final class PostgresResult {
  private(set) var handle: OpaquePointer?
  private let purpose: String
  /// The error of the first column that could not be read; call `check` after reading rows.
  private var failure: PostgresError?
  var count: Int { unsafe Int(PQntuples(handle)) }
  private var columns: Int32 { unsafe PQnfields(handle) }

  init(of statement: PostgresStatement) { purpose = statement.purpose }

  deinit { unsafe PQclear(handle) }

  var isComplete: Bool { unsafe handle != nil }

  func complete(_ new: OpaquePointer) {
    unsafe PQclear(handle)
    unsafe handle = new
  }

  /// The number of rows that an INSERT, UPDATE, DELETE or MERGE changed, or a SELECT returned.
  var affectedRows: Int {
    guard let text = unsafe PQcmdTuples(handle) else { return 0 }
    return unsafe Int(String(cString: text)) ?? 0
  }

  subscript(row: Int) -> PostgresRow {
    precondition(row >= 0 && row < count, "the result has no such row")
    return PostgresRow(result: self, row: Int32(row))
  }

  var first: PostgresRow? { count > 0 ? self[0] : nil }

  func first<Value>(make: (PostgresRow) -> Value) throws(StoreError) -> Value? {
    let value = first.map(make)
    try check()
    return value
  }

  func all<Value>(make: (PostgresRow) -> Value) throws(StoreError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    try each { row in
      values.append(make(row))
      return true
    }
    return values
  }

  /// Calls `body` with each row until it returns false; returns true if it never did.
  @discardableResult
  func each(while body: (PostgresRow) -> Bool) throws(StoreError) -> Bool {
    for row in 0..<Int32(count) {
      let isMore = body(PostgresRow(result: self, row: row))
      try check()
      if !isMore { return false }
    }
    return true
  }

  /// Throws `unexpected` if a column could not be read, and an empty value was returned instead.
  func check() throws(StoreError) {
    if let failure { throw StoreError(failure) }
  }

  /// Returns a value's bytes, valid as long as the result; nil for null, and for a value that cannot be read.
  ///
  /// The column must exist and have the type's binary format.
  @unsafe @inline(__always)
  fileprivate func bytes(_ row: Int32, _ column: Int, _ type: PostgresType) -> UnsafeRawBufferPointer? {
    // -1 stands for every impossible column.
    let column = Int32(exactly: column) ?? -1
    guard column >= 0, column < columns, unsafe type.accepts(PQftype(handle, column)),
      unsafe PQfformat(handle, column) == 1
    else {
      noteMismatch(column, type)
      return nil
    }
    if unsafe PQgetisnull(handle, row, column) == 1 { return nil }
    return unsafe UnsafeRawBufferPointer(
      start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
  }

  @inline(never) private func noteMismatch(_ column: Int32, _ type: PostgresType) {
    guard column >= 0, column < columns else { return note("the result has no such column") }
    note("column \(column) is not \(type), but has the type number \(unsafe PQftype(handle, column))")
  }

  @inline(never) fileprivate func note(_ message: String) {
    failure = failure ?? PostgresError(.unexpected, message, purpose: purpose)
  }
}

/// A row of a result, which it keeps in memory.
///
/// The methods read a column, counted from 0. If it has another type, or is null although the method's result is not optional,
/// the result notes a failure and the method returns an empty value. Methods that throw would force every closure that reads a
/// row to declare the error's type.
struct PostgresRow {
  let result: PostgresResult
  let row: Int32

  func int8OrNil(_ column: Int) -> Int64? { integer(column, .int8) }

  func float8OrNil(_ column: Int) -> Double? {
    let pattern: UInt64? = integer(column, .float8)
    return pattern.map(Double.init(bitPattern:))
  }

  func boolOrNil(_ column: Int) -> Bool? {
    let byte: UInt8? = integer(column, .bool)
    return byte.map { $0 != 0 }
  }

  /// The text, which PostgreSQL has checked to be UTF-8.
  func textOrNil(_ column: Int) -> String? {
    guard let bytes = unsafe result.bytes(row, column, .text) else { return nil }
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  func byteaOrNil(_ column: Int) -> [UInt8]? {
    guard let bytes = unsafe result.bytes(row, column, .bytea) else { return nil }
    return unsafe Array(bytes)
  }

  func int8(_ column: Int) -> Int64 { int8OrNil(column) ?? missing(column, 0) }
  func int4(_ column: Int) -> Int32 { integer(column, .int4) ?? missing(column, 0) }
  func int2(_ column: Int) -> Int16 { integer(column, .int2) ?? missing(column, 0) }
  func bool(_ column: Int) -> Bool { boolOrNil(column) ?? missing(column, false) }
  func text(_ column: Int) -> String { textOrNil(column) ?? missing(column, "") }

  /// The microseconds since 1970; `Int64.max` and `Int64.min` for PostgreSQL's `infinity` and `-infinity`.
  func timestamptz(_ column: Int) -> Int64 {
    let time: Int64 = integer(column, .timestamptz) ?? missing(column, 0)
    if time == .max || time == .min { return time }
    // The type's last times, after January 294247, do not fit into `Int64`.
    let (sum, overflows) = time.addingReportingOverflow(PostgresType.epoch)
    return overflows ? .max : sum
  }

  @inline(__always)
  private func integer<Integer: FixedWidthInteger>(_ column: Int, _ type: PostgresType) -> Integer? {
    guard let bytes = unsafe result.bytes(row, column, type) else { return nil }
    guard bytes.count == MemoryLayout<Integer>.size else {
      result.note("the \(type) in column \(column) has \(bytes.count) bytes")
      return nil
    }
    return unsafe Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
  }

  @inline(never) private func missing<Value>(_ column: Int, _ empty: Value) -> Value {
    result.note("column \(column) is null")
    return empty
  }
}
