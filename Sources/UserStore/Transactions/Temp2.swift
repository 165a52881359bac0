extension UserStore.Transaction {
  public mutating func users(matching query: UserStore.Query) throws -> [UserStore.User] {
    var users: [UserStore.User] = []
    let request = RowRequest(condition: query.condition, order: query.order, start: query.start, limit: query.limit, columns: [])
    var ids: [UserStore.User.ID] = []
    try session.eachRow(request) { id, _ in ids.append(id); return true }
    for id in ids { if let user = try session.user(id) {
      if let shown = query.shown {
        let names = Set(shown + query.order.map(\.attribute))
        users.append(User(id: id, storedValues: user.storedValues.filter { names.contains($0.key) }))
      } else { users.append(user) }
    } }
    return users
  }
  public mutating func userCount(where condition: UserStore.Condition) throws(StoreError) -> Int { try session.userCount(where: condition) }
}
