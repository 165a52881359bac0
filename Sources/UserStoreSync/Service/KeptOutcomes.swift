public import UserStore

// Requests that a client may send again, because it does not know whether the first was carried out.
//
// They are kept as decisions about replicas' sets are, which do the same for a client that is a replica: with the producer 0, which no
// replica has, and the time as their number.

extension UserStore.WriteTransaction {
  /// What an earlier write has kept about a request.
  ///
  /// - Parameter request: The request's identity: a random number of its client, or the first eight bytes of a cryptographic hash of what
  ///   identifies it. No two requests have the same one.
  /// - Returns: The outcome; nil if none is kept.
  /// - Throws: `StoreError.Code.conflict` if the number is the identity of a replica's change set; and any other `StoreError` if the
  ///   store cannot be read or written.
  public mutating func outcome(of request: Int64) throws(StoreError) -> String? {
    guard let replicated = try session.replicated, try replicated.decides() else { return nil }
    let time = WallClock.milliseconds - Kept.lifetime
    try replicated.forgetDecisions(of: Kept.producer, through: .max, before: time)
    let decision = try replicated.decisions(about: [(.max, request)], of: Kept.producer)[0]
    // The latter two are about the number, which means nothing here.
    guard let decision, decision != .expired, decision != .forked else { return nil }
    guard decision.isKept else { throw StoreError(.conflict, "\(request) is the identity of a change set") }
    return decision.detail ?? ""
  }

  /// Keeps the outcome of a request for at least 24 hours, together with what this write changes: if one of the two is committed, so is
  /// the other.
  ///
  /// Ask `outcome(of:)` first, in the same write; it forgets about 1,000 older ones each time. A file gets a table for outcomes; from then
  /// on, versions of this library that do not know the table refuse the file, as they refuse one that replicas follow. A restored backup
  /// has what was kept when it was made.
  ///
  /// - Parameters:
  ///   - outcome: What a repetition of the request is answered with. Keep no values of users: a purge does not remove them from it.
  ///     `user(_:at:)` reads them as they were.
  ///   - request: The request's identity, of which `outcome(of:)` knows nothing.
  /// - Throws: `StoreError.Code.schemaTooOld` if the owner of a PostgreSQL schema has to migrate it first; and any other `StoreError` if
  ///   writing fails.
  public mutating func keep(_ outcome: String, of request: Int64) throws(StoreError) {
    guard let replicated = try session.replicated else {
      throw StoreError(.unsupported, "a store of this engine keeps no outcomes")
    }
    try replicated.keepDecisions()
    try replicated.store(
      [(WallClock.milliseconds, request, Decision(Kept.result, detail: outcome))], of: Kept.producer)
  }
}

extension Decision {
  /// Whether it is about no set of a replica, but another request.
  var isKept: Bool { result == Kept.result }
}

private enum Kept {
  static let producer: Int64 = 0
  static let result = "kept"
  /// In milliseconds.
  static let lifetime: Int64 = 24 * 60 * 60 * 1_000
}
