extension UserStore {
  /// Something that `check` found in a store.
  public struct Finding: Hashable, Sendable {
    /// How severe a finding is.
    public enum Severity: String, Hashable, Sendable {
      /// The store works, but could be faster or safer.
      case warning
      /// Something is damaged, missing, or contradicts the log.
      case problem
    }

    /// The kind of a finding; later versions may add kinds.
    @nonexhaustive public enum Kind: String, Hashable, Sendable {
      /// A result of SQLite's own integrity check.
      case integrity
      /// Tables, views or migrations are not those of the library; the rest was not checked then.
      case schema
      /// A trigger of the log is missing or changed: changes made since then are not in the log.
      case trigger
      /// The log has a gap or malformed rows, contradicts the tables, or lacks what a replica is to send; a warning if a replica keeps it
      /// for long.
      case log
      /// A stored value cannot be decoded.
      case value
      /// An attribute belongs to no user.
      case orphan
      /// A failed statement of a foreign writer left rows in the triggers' helper tables; the next INSERT deletes them.
      case scratch
      /// A program keeps a read transaction open, and the -wal file grows until it ends.
      case reader
      /// Users other than the owner can read or replace the file.
      case permissions
      /// The file has several names (hard links), and can only be opened for reading.
      case links
      /// The SQLite library has a known bug that can damage files; found by `UserStore.checkLibrary`, never in a file.
      case library
    }

    /// How severe the finding is.
    public let severity: Severity
    /// What the finding is about.
    public let kind: Kind
    /// A description of the finding.
    public let message: String
    /// The user that the finding concerns, if there is one.
    public let user: User.ID?
    /// The attribute that the finding concerns, if there is one; bytes that are not valid UTF-8 are shown as U+FFFD.
    public let attribute: AttributeName?

    package init(
      severity: Severity, kind: Kind, message: String, user: User.ID? = nil, attribute: AttributeName? = nil
    ) {
      (self.severity, self.kind, self.message) = (severity, kind, message)
      (self.user, self.attribute) = (user, attribute)
    }
  }
}

package typealias Finding = UserStore.Finding
