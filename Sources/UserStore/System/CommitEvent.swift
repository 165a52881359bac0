/// What may have been committed.
package struct CommitEvent: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Something was written; it may not be visible yet.
  package static let written = CommitEvent(rawValue: 1)
  /// A writer signaled that its commit is visible.
  package static let touched = CommitEvent(rawValue: 2)
  /// A file was created, deleted or renamed, or the folder was.
  package static let renamed = CommitEvent(rawValue: 4)
  /// The system dropped events.
  package static let overflowed = CommitEvent(rawValue: 8)
  /// `wake` was called.
  package static let woken = CommitEvent(rawValue: 16)
}
