/// A transaction that a writer began, and its outcome as far as the writer can tell.
struct Attempt {
  enum What: Hashable {
    /// Writes the number to its user. No number is attempted twice.
    case number(Int64)
    /// Removes a user.
    case removal(Int64)
    /// Undoes the write that ended at a revision.
    case undo(Int64)
  }

  enum Outcome {
    /// The commit was acknowledged to the writer.
    case acknowledged
    /// COMMIT was not executed, or failed. It must not be in the log.
    case abandoned
    /// The writer was killed before an acknowledgment.
    case unknown
  }

  let what: What
  let outcome: Outcome
}

/// One writer's attempts on one user, in order.
struct History {
  let writer: String
  let user: Int64
  var attempts: [Attempt] = []

  mutating func add(_ what: Attempt.What, _ outcome: Attempt.Outcome) {
    attempts.append(Attempt(what: what, outcome: outcome))
  }
}
