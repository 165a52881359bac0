import Synchronization

/// SQL that is prepared once for each connection: one static constant each, next to the code that runs it.
struct Query: Sendable {
  let sql: String
  /// Where each connection keeps its prepared form.
  let index: Int

  private static let count = Atomic(0)

  init(_ sql: String) {
    self.sql = sql
    index = Query.count.add(1, ordering: .relaxed).oldValue
  }
}
