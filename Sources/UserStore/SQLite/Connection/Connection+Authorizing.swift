import CUserStoreSQLite

extension Connection {
  /// What a trigger, or a view, would do if a statement ran.
  struct TriggeredAction {
    /// nil for anything but a change of rows.
    let change: Change?
    let table: String
    let trigger: String

    enum Change: String {
      case insert = "inserts into", update = "updates", delete = "deletes from"
    }
  }

  /// Prepares a statement without running it, and returns what triggers would do in it, also those that foreign keys reach.
  ///
  /// Uses the connection's authorizer, of which there is only one.
  func triggeredActions(of sql: String, for purpose: String) throws(StoreError) -> [TriggeredAction] {
    let record = ActionRecord()
    let context = unsafe Unmanaged.passUnretained(record).toOpaque()
    _ = unsafe sqlite3_set_authorizer(
      handle,
      { context, action, table, _, _, trigger in
        guard let context = unsafe context, let trigger = unsafe trigger else { return SQLITE_OK }
        let change: TriggeredAction.Change? =
          switch action {
          case SQLITE_INSERT: .insert
          case SQLITE_UPDATE: .update
          case SQLITE_DELETE: .delete
          default: nil
          }
        unsafe Unmanaged<ActionRecord>.fromOpaque(context).takeUnretainedValue().actions.append(
          TriggeredAction(
            change: change, table: table.map { unsafe String(cString: $0) } ?? "", trigger: String(cString: trigger)))
        return SQLITE_OK
      }, context)
    defer { _ = unsafe sqlite3_set_authorizer(handle, nil, nil) }
    _ = unsafe try Statement(SQL(once: purpose, sql), on: handle)
    return withExtendedLifetime(record) { record.actions }
  }
}

/// What the authorizer has reported; it belongs to the call that registered it.
private final class ActionRecord {
  var actions: [Connection.TriggeredAction] = []
}
