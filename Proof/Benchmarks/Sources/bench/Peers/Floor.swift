import CFloor

/// SQLite in C.
final class Floor: @unchecked Sendable {
  let handle: OpaquePointer

  init(_ path: String, isFull: Bool, _ plan: floor_plan) throws {
    guard let handle = floor_open(path, isFull ? 1 : 0, plan) else {
      throw WorkNotDone(description: "C cannot open \(path)")
    }
    self.handle = handle
  }

  deinit { floor_close(handle) }

  func rename(_ users: Range<Int64>, to name: String) throws {
    let code = floor_rename(handle, users.lowerBound, Int64(users.count), name)
    try expect(Int(code), 0, "SQLite's code for a write")
  }

  func setColor(_ id: Int64, to color: String?) throws {
    try expect(Int(floor_set_color(handle, id, color)), 0, "SQLite's code for a write")
  }

  /// Reads all rows of a statement, and returns their number.
  func query(_ sql: String, _ value: Int = 0) -> Int { Int(floor_query(handle, sql, Int64(value))) }
}
