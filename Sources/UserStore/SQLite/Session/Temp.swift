extension SQLiteSession {
  func eachRow(_ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool) throws(StoreError) {
    var users: [User] = []
    try eachUser { users.append($0); return true }
    var query = Query(where: request.condition, sortedBy: request.order)
    query.start = request.start
    let layout = RowLayout(query)
    let start = query.start.map { layout.row(at: $0) }
    var rows: [(Row, User)] = []
    for user in users where request.condition.isTrue(of: user) {
      let row = layout.row(user.id, { user.storedValue($0) }, all: [:])
      if let start, layout.order.compare(row, start) <= 0 { continue }
      rows.append((row, user))
    }
    rows.sort { layout.order.compare($0.0, $1.0) < 0 }
    for (_, user) in rows.prefix(request.limit ?? .max) {
      if !body(user.id, request.columns.map { user.storedValue($0) }) { return }
    }
  }
  func userCount(where condition: Condition) throws(StoreError) -> Int {
    var n = 0
    try eachUser { if condition.isTrue(of: $0) { n += 1 }; return true }
    return n
  }
  func indexes() throws(StoreError) -> [AttributeName] { [] }
  func addIndex(on attribute: AttributeName) throws(StoreError) -> Bool { false }
  func removeIndex(on attribute: AttributeName) throws(StoreError) -> Bool { false }
}
