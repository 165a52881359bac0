/// An error of the store.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// What happened; names the user, the attribute or the file.
  public let message: String
  /// The underlying error, if there is one.
  public let cause: (any Error)?

  /// Creates an error.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The message.
  public var description: String { message }
}

extension StoreError {
  /// A kind of error.
  ///
  /// A `catch` can name one: `catch StoreError.Code.closed`. Later versions may add codes.
  ///
  /// Every write can throw the codes under “Reading and writing”, and, because it may open another connection, `cannotOpen`,
  /// `noPermission`, and `notADatabase`. So can every read, except `commitUnknown`, `mustReopen`, `rolledBackWithGroup`, and
  /// `tooManyRounds`.
  @nonexhaustive public enum Code: String, Hashable, Sendable {
    // MARK: Opening

    /// The file does not exist, and `access` does not allow creating it.
    case notFound
    /// The path cannot be a database: it is a folder, a pipe, a device, or on a network file system. Or the file has several
    /// names (hard links) and was to be opened for writing. Or the system cannot open it now, for example because the process
    /// has too many open files.
    case cannotOpen
    /// The file or its folder cannot be created.
    case cannotCreate
    /// The process has no permission for the file or for its folder.
    case noPermission
    /// The process can read the file, but cannot write to the folder, where SQLite needs to create its -shm file, and no process
    /// that can write to it has the store open.
    ///
    /// Try again later: the store can be read while a writer has it open, and after a writer has crashed.
    case needsWriter
    /// The file is not an SQLite database, or is encrypted.
    case notADatabase
    /// The file is an SQLite database of another program.
    case notAUserStore
    /// A newer version of the library wrote the file.
    case schemaTooNew
    /// An older version of the library wrote the file, and it was opened only for reading. Open it for writing once.
    case schemaTooOld
    /// Tables, triggers, views or migrations in the file are not those of the library. None of them was run.
    case schemaChanged
    /// The store was opened only for reading, and a trigger of the log is missing: later changes are not in the log.
    case logIncomplete

    // MARK: Reading and writing

    /// Another process held a lock for longer than `busyTimeout`. Nothing was changed; you can try again.
    case busy
    /// The store was opened only for reading, or the file or its file system is read-only.
    case readOnly
    /// The disk is full. Nothing was changed; you can write again when there is space.
    case diskFull
    /// The database file is damaged.
    case corrupt
    /// Reading or writing the file failed. Nothing was changed.
    case ioError
    /// The open file was moved, deleted or replaced, so that a write would be lost. Reopen the store.
    case moved
    /// COMMIT failed in a sync: after a crash, the change may or may not be there.
    ///
    /// The store refuses writes until you reopen it. If the change survived, the log delivers it then.
    case commitUnknown
    /// The store refuses writes after `commitUnknown`.
    case mustReopen
    /// The store was closed.
    case closed
    /// `read` or `write` was called inside a `read` or `write` of the same store.
    case nested
    /// SQLite ended the transaction after an error that the closure ignored. Nothing was changed.
    case transactionEnded
    /// SQLite ended a transaction that this write shared with others. Nothing was changed; you can try again.
    case rolledBackWithGroup
    /// Writes by listeners cause one another, and this one exceeds `roundLimit`. It changed nothing.
    case tooManyRounds
    /// SQLite is out of memory. Nothing was changed.
    case outOfMemory
    /// SQLite reported an error that has no other code.
    case unexpected

    // MARK: Records

    /// No user has this id.
    case userNotFound
    /// The user to purge exists. Nothing was changed: remove the user first.
    case userExists
    /// The store does not accept the value: an empty or too long name, control characters in a name, NaN, a value that
    /// is too large, or a page size that SQLite does not have.
    case badValue
    /// A stored value, which stays as it is, is not of the attribute's type or not valid UTF-8: a foreign writer stored it.
    case undecodable
    /// The current value is not the expected one, or not the one that an undo would revert. Nothing was changed.
    case conflict

    // MARK: Backup, restore, undo

    /// The destination already exists, and `replacing` is false.
    case alreadyExists
    /// `check` found problems, other than damaged pages, in the store to back up or the file to restore.
    ///
    /// Nothing was changed; `ignoringProblems` overrides this.
    case problemsFound
    /// No write of this library ended at the revision to undo.
    case revisionNotFound

    // MARK: The log

    /// The text is not a cursor, or is one of a newer version.
    case badCursor
    /// Changes after the cursor were deleted: read the current records, and continue from there.
    case compacted
    /// The log does not continue after the cursor: a backup was restored, a commit was lost, triggers were missing for a while,
    /// or the cursor is from another database.
    case diverged
    /// Another consumer took over the name, in this or another process, or the name was removed.
    ///
    /// Earlier acknowledgments stay; this consumer cannot acknowledge any more sets.
    case superseded
    /// Another file was put in place of the open one.
    case replaced
  }
}

extension StoreError.Code {
  /// Matches an error that has this code, in `catch` and `case`.
  public static func ~= (code: StoreError.Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
}

extension StoreError {
  /// Creates an error for a failed file operation; `code` is for error numbers that have no code of their own.
  init(_ error: SystemError, otherwise code: Code) {
    let code: Code =
      switch error.number {
      case let number where SystemError.meansNoPermission(number): .noPermission
      case let number where SystemError.meansNoSpace(number): .diskFull
      case _ where error.alreadyExists: .alreadyExists
      default: code
      }
    self.init(code, error.description, cause: error)
  }
}
