import CUserStoreLibPQ
import UserStore

extension PostgresConnection {
  /// Runs a statement and returns its result, in one round trip.
  ///
  /// - Throws: `.badValue`, `.unexpected`.
  @discardableResult
  func run(_ statement: PostgresStatement, _ values: PostgresValue...) throws(StoreError) -> PostgresResult {
    try pipeline { $0.add(statement, values) }
  }

  /// Runs the statements that `body` adds, in one round trip, and returns what `body` returns.
  ///
  /// The results are complete when this returns:
  ///
  ///     let (user, attributes) = try connection.pipeline { batch in
  ///       (batch.add(selectUser, .int8(7)), batch.add(selectAttributes, .int8(7)))
  ///     }
  ///
  /// - Throws: `.badValue`, before anything is sent; `.unexpected`; and the error of the first statement that failed,
  ///   with its `statementIndex`. The server skips the later statements, and rolls back the earlier ones unless a
  ///   COMMIT came between.
  func pipeline<Value>(_ body: (inout PostgresBatch) -> Value) throws(StoreError) -> Value {
    var batch = PostgresBatch()
    let value = body(&batch)
    try run(batch)
    return value
  }

  func run(_ batch: PostgresBatch) throws(StoreError) {
    do throws(PostgresError) { try exchange(batch) } catch { throw StoreError(error) }
  }

  /// Like `run`, but throws a `PostgresError`, which connecting needs.
  func exchange(_ batch: PostgresBatch) throws(PostgresError) {
    if let failure = batch.failure { throw failure }
    if batch.entries.isEmpty { return }
    let wasIdle = transactionStatus == .idle
    do throws(PostgresError) {
      try makeRoundTrip(batch)
    } catch {
      // The failed batch had no effect, so send it again, which prepares the statement again.
      guard error.isStalePlan, error.statementIndex == 0, wasIdle, transactionStatus == .idle else { throw error }
      try makeRoundTrip(batch)
    }
  }

  private func makeRoundTrip(_ batch: PostgresBatch) throws(PostgresError) {
    let purpose = batch.entries[0].statement.purpose
    let handle = unsafe try openHandle(purpose)
    let status = transactionStatus
    var silence = beginReply()
    countRoundTrip()
    var failure: PostgresError?
    do throws(PostgresError) {
      // The server may run what it has received, even if this throws.
      let replies = unsafe try send(batch, on: handle, status)
      for reply in replies {
        if let error = try receive(reply, of: batch, &silence), failure == nil { failure = error }
      }
      do throws(PostgresError) { try receiveSync(&silence, purpose) } catch {
        // The reply to the final COMMIT proves the commit, even if the connection ends before the sync.
        guard failure == nil, batch.entries.last?.statement.effect == .commits else { throw error }
      }
    } catch {
      var error = error
      let commits = batch.entries.contains { $0.statement.effect == .commits }
      let isOneTransaction = status == .idle && batch.entries[0].statement.effect != .begins
      error.isOutcomeUnknown = failure == nil && (commits || isOneTransaction)
      throw error
    }
    if let failure { throw failure }
    if isUnreplicated { throw PostgresError(unreplicated: purpose) }
  }

  private enum Reply {
    case closedCursors
    case prepare(Int)
    case execute(Int)
  }

  private func send(
    _ batch: PostgresBatch, on handle: OpaquePointer, _ status: TransactionStatus
  ) throws(PostgresError) -> [Reply] {
    var replies: [Reply] = []
    replies.reserveCapacity(batch.entries.count + 2)
    // Closing cursors together with the next statement costs no round trip.
    if hasOpenCursors, scanDepth == 0, status == .inTransaction {
      let sent = unsafe PQsendQueryParams(handle, PostgresStatement.closeCursors.text, 0, nil, nil, nil, nil, 1)
      guard sent == 1 else { throw lost(PostgresStatement.closeCursors.purpose) }
      hasOpenCursors = false
      replies.append(.closedCursors)
    }
    // The statements that this batch prepares; they are few.
    var preparing: [Int] = []
    let failed = unsafe batch.parameters.withPointers { values, lengths, formats -> PostgresStatement? in
      for (position, entry) in batch.entries.enumerated() {
        let (statement, first) = (entry.statement, entry.firstParameter)
        let types = statement.typeNumbers
        let count = Int32(types.count)
        let sent: Int32
        if statement.index >= 0 {
          let (name, isPrepared) = statements.entry(statement.index)
          if !isPrepared, !preparing.contains(statement.index) {
            guard unsafe PQsendPrepare(handle, name, statement.text, count, types) == 1 else { return statement }
            preparing.append(statement.index)
            replies.append(.prepare(position))
          }
          sent = unsafe PQsendQueryPrepared(handle, name, count, values + first, lengths + first, formats, 1)
        } else {
          sent = unsafe PQsendQueryParams(
            handle, statement.text, count, types, values + first, lengths + first, formats, 1)
        }
        guard sent == 1 else { return statement }
        replies.append(.execute(position))
      }
      return nil
    }
    if let failed { throw lost(failed.purpose) }
    guard unsafe PQpipelineSync(handle) == 1 else { throw lost(batch.entries[0].statement.purpose) }
    return replies
  }

  /// Receives the reply to one statement, and returns the server's error if it failed.
  private func receive(
    _ reply: Reply, of batch: PostgresBatch, _ silence: inout Silence
  ) throws(PostgresError) -> PostgresError? {
    let entry: PostgresBatch.Entry? =
      switch reply {
      case .closedCursors: nil
      case .prepare(let index), .execute(let index): batch.entries[index]
      }
    let statement = entry?.statement ?? .closeCursors
    guard let result = unsafe try nextResult(&silence, statement.purpose) else { throw lost(statement.purpose) }
    var failure: PostgresError?
    switch unsafe PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
      if case .execute(let index) = reply {
        unsafe entry?.result.complete(result)
        failure = unsafe rollbackInPlaceOfCommit(result, statement, index)
      } else {
        if case .prepare = reply { statements.setPrepared(statement.index) }
        unsafe PQclear(result)
      }
    case PGRES_PIPELINE_ABORTED:
      unsafe PQclear(result)
    case PGRES_FATAL_ERROR:
      failure = unsafe try serverError(result, reply, statement)
    default:
      // COPY, or an empty statement.
      let status = unsafe String(cString: PQresStatus(PQresultStatus(result)))
      unsafe PQclear(result)
      close()
      throw PostgresError(
        .unexpected, "the statement is of a kind that is not supported (\(status))", purpose: statement.purpose)
    }
    // nil ends each statement's results.
    if let result = unsafe try nextResult(&silence, statement.purpose) {
      unsafe PQclear(result)
      throw lost(statement.purpose)
    }
    return failure
  }

  private func serverError(
    _ result: OpaquePointer, _ reply: Reply, _ statement: PostgresStatement
  ) throws(PostgresError) -> PostgresError {
    defer { unsafe PQclear(result) }
    // The connection has ended, for example because the server stopped; the statement is not at fault.
    let severity = unsafe PQresultErrorField(result, Int32(USERSTORE_PQ_SEVERITY)).map { unsafe String(cString: $0) }
    if severity == nil || severity == "FATAL" || severity == "PANIC" {
      throw lost(statement.purpose)
    }
    let index: Int? =
      switch reply {
      case .closedCursors: nil
      case .prepare(let index), .execute(let index): index
      }
    var error = PostgresError(result, purpose: statement.purpose, statementIndex: index)
    if error.hint == nil { error.hint = hint(for: error) }
    if error.isStalePlan, statement.index >= 0 { statements.forget(statement.index) }
    return error
  }

  /// Returns an error if the server answered COMMIT with ROLLBACK, which PostgreSQL reports as success.
  private func rollbackInPlaceOfCommit(
    _ result: OpaquePointer, _ statement: PostgresStatement, _ index: Int
  ) -> PostgresError? {
    guard statement.effect == .commits, let tag = unsafe PQcmdStatus(result), unsafe String(cString: tag) == "ROLLBACK"
    else { return nil }
    let message = "the transaction was rolled back, because one of its statements had failed"
    var error = PostgresError(.server(.inFailedTransaction), message, purpose: statement.purpose)
    error.statementIndex = index
    return error
  }

  private func receiveSync(_ silence: inout Silence, _ purpose: String) throws(PostgresError) {
    let result = unsafe try nextResult(&silence, purpose)
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw lost(purpose) }
  }

  /// Runs statements without parameters, for setup and migrations.
  ///
  /// They are one transaction unless they contain BEGIN or COMMIT. `purpose` completes error messages: “cannot PURPOSE: …”.
  func execute(_ sql: String, to purpose: String) throws(StoreError) {
    do throws(PostgresError) { try runScript(sql, purpose) } catch { throw StoreError(error) }
  }

  private func runScript(_ sql: String, _ purpose: String) throws(PostgresError) {
    let handle = unsafe try openHandle(purpose)
    var silence = beginReply()
    // Pipeline mode does not allow several statements in one text.
    guard unsafe PQexitPipelineMode(handle) == 1, unsafe PQsendQuery(handle, sql) == 1 else { throw lost(purpose) }
    countRoundTrip()
    var failure: PostgresError?
    do throws(PostgresError) {
      while let result = unsafe try nextResult(&silence, purpose) {
        switch unsafe PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: unsafe PQclear(result)
        case PGRES_FATAL_ERROR:
          let statement = PostgresStatement(once: purpose, "")
          failure = unsafe try serverError(result, .closedCursors, statement)
        default:
          unsafe PQclear(result)
          close()
          throw PostgresError(.unexpected, "COPY is not supported", purpose: purpose)
        }
      }
      guard unsafe PQstatus(handle) == CONNECTION_OK, unsafe PQenterPipelineMode(handle) == 1 else {
        throw lost(purpose)
      }
    } catch {
      var error = error
      // The text may contain a COMMIT.
      error.isOutcomeUnknown = failure == nil
      throw error
    }
    if let failure { throw failure }
    if isUnreplicated { throw PostgresError(unreplicated: purpose) }
  }
}
