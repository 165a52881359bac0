extension UserStore {
  /// Something that `check` found in a store.
  public struct Finding: Hashable, Sendable {
    /// How bad it is.
    public enum Severity: String, Hashable, Sendable {
      /// It works, and could be better or safer.
      case warning
      /// Something is wrong: damaged, missing, or not what the log says.
      case problem
    }

    /// What it is about.
    ///
    /// Later versions may add kinds.
    @nonexhaustive public enum Kind: String, Hashable, Sendable {
      /// What SQLite's own check of the file says.
      case integrity
      /// Tables, views or migrations that are not those of the library; nothing further was looked at then.
      case schema
      /// A trigger of the log that is missing or changed: what was written since is not in the log.
      case trigger
      /// The log has a gap or rows that cannot be, or does not say what the tables hold.
      case log
      /// A stored value that no reader can decode.
      case value
      /// An attribute whose user is gone.
      case orphan
      /// Rows that a foreign writer's statement left where the triggers put rows aside; the next one clears them.
      case scratch
      /// Somebody holds a read open, and the -wal file grows until it ends.
      case reader
      /// Others than the owner may read or replace the file.
      case permissions
      /// The file has several names (hard links), and is opened only for reading.
      case links
      /// The SQLite library has a known bug that can damage files: from `UserStore.checkLibrary`, never in a file.
      case library
    }

    /// How bad it is.
    public let severity: Severity
    /// What it is about.
    public let kind: Kind
    /// What was found, for a person.
    public let message: String
    /// Whose record it concerns, when it is one.
    public let user: User.ID?
    /// Which attribute it concerns, when it is one; its bytes that are no UTF-8 are shown as U+FFFD.
    public let attribute: AttributeName?
  }
}

package typealias Finding = UserStore.Finding
