/// A transaction that a writer began, and what it knows of its end.
struct Attempt {
  enum What: Hashable {
    /// Writes the number of its user; no number is attempted twice.
    case number(Int64)
    /// Removes a user.
    case removal(Int64)
    /// Takes back the write that ended at a revision.
    case undo(Int64)
  }

  enum Outcome {
    /// The writer was told that it is committed.
    case acknowledged
    /// COMMIT was never asked for, or refused: it must not be there.
    case abandoned
    /// The writer was killed before it was told.
    case unknown
  }

  let what: What
  let outcome: Outcome
}

/// What one writer attempted with one user, in order.
struct History {
  let writer: String
  let user: Int64
  var attempts: [Attempt] = []

  mutating func add(_ what: Attempt.What, _ outcome: Attempt.Outcome) {
    attempts.append(Attempt(what: what, outcome: outcome))
  }
}
