import Synchronization

/// SQL that each connection prepares once: one static constant each, next to the code that runs it.
struct Query: Sendable {
  /// What it does, for messages: “cannot PURPOSE: …”.
  let purpose: String
  let sql: String
  /// Where each connection keeps its prepared form.
  let index: Int

  private static let count = Atomic(0)

  init(_ purpose: String, _ sql: String) {
    self.purpose = purpose
    self.sql = sql
    index = Query.count.add(1, ordering: .relaxed).oldValue
  }

  /// SQL that runs once, and is not kept.
  init(once purpose: String, _ sql: String) {
    self.purpose = purpose
    self.sql = sql
    index = -1
  }
}
