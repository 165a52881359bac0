/// A database file and its -wal file as one input: the work to do, the length of the database, and the bytes of both.
struct Image {
  /// The bits that select the work.
  var plan: UInt8
  var database: [UInt8]
  var wal: [UInt8]

  init(plan: UInt8, database: [UInt8], wal: [UInt8] = []) {
    (self.plan, self.database, self.wal) = (plan, database, wal)
  }

  /// Decodes an input.
  ///
  /// Any bytes are valid.
  init(_ input: some Collection<UInt8>) {
    let input = Array(input)
    plan = input.first ?? 0
    let rest = input.dropFirst()
    let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    let files = rest.dropFirst(4)
    database = Array(files.prefix(length))
    wal = Array(files.dropFirst(length))
  }

  var bytes: [UInt8] {
    [plan] + (0..<4).map { UInt8(truncatingIfNeeded: database.count >> (8 * $0)) } + database + wal
  }

  /// The page size from the header, or 512 if that is invalid.
  var pageSize: Int {
    guard database.count >= 100 else { return 512 }
    let size = Int(database[16]) << 8 | Int(database[17])
    return size == 1 ? 65_536 : size >= 512 && size & (size - 1) == 0 ? size : 512
  }

  var pages: Int { (database.count + pageSize - 1) / pageSize }
}
