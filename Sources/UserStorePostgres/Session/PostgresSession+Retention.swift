import UserStore

extension PostgresSession {
  private static let selectExtent = PostgresStatement(
    "read the log",
    """
    SELECT epoch, horizon, horizon_nonce, measured, bytes, first, last, consumer, searched, sized, size
    FROM userstore.extent($1)
    """, .int8)
  private static let saveExtent = PostgresStatement(
    "compact the log", "SELECT FROM userstore.save_extent($1, $2, $3, $4, $5, $6, $7)",
    .int8, .int8, .int8, .int8, .int8, .int8, .int8)
  private static let selectSize = PostgresStatement(
    "read the log", "SELECT last, bytes FROM userstore.size_of($1, $2, $3, \(PagedChanges.byteLimit))",
    .int8, .int8, .int4)
  private static let selectUsed = PostgresStatement("read the log", "SELECT userstore.used_bytes()")
  private static let selectMarks = PostgresStatement(
    "read the log", "SELECT seq, first, nonce, is_end, is_foreign FROM userstore.scan($1, $2, $3)", .int8, .int8, .int4)
  private static let forget = PostgresStatement("compact the log", "SELECT userstore.forget($1, \(Int32.max))", .int8)
  private static let selectChangesOfUser = PostgresStatement(
    "read the log",
    "SELECT seq, bytes, is_blank FROM userstore.changes_of($1, $2, $3, \(PagedChanges.rowLimit))", .int8, .int8, .int8)
  private static let blank = PostgresStatement("purge a user", "SELECT userstore.blank($1, $2)", .int8, .int8)

  func extent(assuming assumed: LogExtent?) throws(StoreError) -> LogExtent {
    let start = assumed?.horizon.revision.rawValue ?? 0
    let result = try run(Self.selectExtent, .int8(start))
    guard let row = result.first else { throw Self.noMeta }
    let extent = try LogExtent(
      horizon: Cursor(row), first: row.int8OrNil(5), last: row.int8OrNil(6), measured: (row.int8(3), row.int8(4)),
      searched: row.int8(8), sized: (row.int8(9), row.int8(10)), consumer: row.int8OrNil(7), assuming: assumed)
    try result.check()
    return extent
  }

  func save(_ extent: LogExtent) throws(StoreError) {
    try run(
      Self.saveExtent, .int8(extent.horizon.revision.rawValue), .int8(extent.horizon.nonce), .int8(extent.measured),
      .int8(extent.bytes), .int8(extent.searched), .int8(extent.sized), .int8(extent.size))
  }

  func size(after start: Int64, through end: Int64, limit: Int) throws(StoreError) -> (last: Int64, bytes: Int64) {
    let size = try run(Self.selectSize, .int8(start), .int8(end), .int4(Int32(clamping: limit)))
    return try size.first { ($0.int8(0), $0.int8(1)) } ?? (start, 0)
  }

  func usedBytes() throws(StoreError) -> Int64 {
    try first(Self.selectUsed) { $0.int8(0) } ?? .max
  }

  func scan(
    after start: Int64, through end: Int64, limit: Int, while body: (_ sequence: Int64, SetEnd?) -> Bool
  ) throws(StoreError) {
    let result = try run(Self.selectMarks, .int8(start), .int8(end), .int4(Int32(clamping: limit)))
    try result.each { row in
      let sequence = row.int8(0)
      guard row.bool(3) else { return body(sequence, nil) }
      return body(
        sequence, SetEnd(sequence: sequence, first: row.int8(1), nonce: row.int8(2), isForeign: row.bool(4)))
    }
  }

  func deleteRows(through last: Int64) throws(StoreError) -> Int {
    Int(try first(Self.forget, .int8(last)) { $0.int8(0) } ?? 0)
  }

  func changes(
    of user: User.ID, after start: Int64, through end: Int64
  ) throws(StoreError) -> [(sequence: Int64, bytes: Int64, isBlank: Bool)] {
    let result = try run(Self.selectChangesOfUser, .int8(user.rawValue), .int8(start), .int8(end))
    var rows: [(sequence: Int64, bytes: Int64, isBlank: Bool)] = []
    var bytes = Int64(0)
    try result.each { row in
      rows.append((row.int8(0), row.int8(1) - LogExtent.rowBytes, row.bool(2)))
      bytes += row.int8(1)
      return bytes < PagedChanges.byteLimit
    }
    return rows
  }

  /// On PostgreSQL, a failed statement leaves nothing to remove outside of the log.
  func blank(_ sequences: [Int64], of user: User.ID) throws(StoreError) {
    if sequences.isEmpty { return }
    try pipeline { batch in
      for sequence in sequences { batch.add(Self.blank, .int8(sequence), .int8(user.rawValue)) }
    }
  }
}
