/// The one error of the store: what kind, in words, and what lies behind it.
public struct StoreError: Error, Sendable {
  /// The kind, documented by when it is thrown.
  public let code: Code
  /// What happened, for a person; names the user, the attribute or the file.
  public let message: String
  /// What was underneath, when there was something.
  public let cause: (any Error)?

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The kind.
  ///   - message: What happened.
  ///   - cause: What was underneath.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension StoreError: CustomStringConvertible {
  /// The text that stands for it.
  public var description: String { message }
}

extension StoreError {
  /// The kinds of error.
  ///
  /// A `catch` can name one: `catch StoreError.Code.closed`. Later versions may add codes.
  @nonexhaustive public enum Code: String, Hashable, Sendable {
    // MARK: Opening

    /// There is no database at the path, and it was not to be created.
    case notFound
    /// The path cannot be a database: a folder, a pipe, a device, anything on a network file system; or the file has several
    /// names (hard links) and was to be opened for writing; or the system did not open the file now, for want of descriptors
    /// for example.
    case cannotOpen
    /// The file or its folder cannot be created.
    case cannotCreate
    /// The rights of the process do not suffice, for the file or for the folder that it lies in.
    case noPermission
    /// The process may read the file, but not write its folder, and nobody who may has the store open: SQLite must make
    /// its -shm file there.
    ///
    /// It may be tried again: while a writer has the store open, and after one that crashed, the store can be read.
    case needsWriter
    /// The file is no SQLite database, or one that is encrypted.
    case notADatabase
    /// The file is an SQLite database of another program.
    case notAUserStore
    /// A newer version of the library wrote the file.
    case schemaTooNew
    /// An older version wrote the file, and it was opened only for reading: a writer must open it once.
    case schemaTooOld
    /// Tables, triggers, views or migrations in the file are not those of the library.
    ///
    /// Nothing of them was run.
    case schemaChanged
    /// The store was opened only for reading and a trigger of the log is missing: what was written since is not in it.
    case logIncomplete

    // MARK: Reading and writing

    /// Another process held a lock for longer than `busyTimeout`.
    ///
    /// Nothing was changed; it may be tried again.
    case busy
    /// A write in a store that was opened only for reading, or on a file or file system that allows no writing.
    case readOnly
    /// No space left.
    ///
    /// Nothing was changed; the store goes on once there is space.
    case diskFull
    /// The database file is damaged.
    case corrupt
    /// Reading or writing the file failed.
    ///
    /// Nothing was changed.
    case ioError
    /// The file was moved, deleted or replaced while it was open: what would be written now, nobody would find.
    ///
    /// Reopen.
    case moved
    /// COMMIT failed while it synced: the change may be found after a crash, or may not.
    ///
    /// The store refuses writes until it is reopened; if the change survived, the log then delivers it.
    case commitUnknown
    /// A write after `commitUnknown`.
    case mustReopen
    /// The store was closed.
    case closed
    /// `read` or `write` of a store inside another one of the same store.
    case nested
    /// SQLite ended the transaction after an error that the closure ignored.
    ///
    /// Nothing was changed.
    case transactionEnded
    /// SQLite ended a transaction that this write shared with others.
    ///
    /// Nothing was changed; it may be tried again.
    case rolledBackWithGroup
    /// Listeners answer each other without end: the write that would go beyond the limit.
    ///
    /// Nothing was changed by it.
    case tooManyRounds
    /// SQLite found no memory.
    ///
    /// Nothing was changed.
    case outOfMemory
    /// SQLite reported something that no other code covers.
    case unexpected

    // MARK: Records

    /// No user has this id.
    case userNotFound
    /// A purge of a user that is still there.
    ///
    /// Nothing was changed: remove the user first.
    case userExists
    /// A value that the store does not take: an empty or over-long name, control characters in it, not-a-number, too big; or
    /// a page size that SQLite does not have.
    case badValue
    /// A stored value is not of the attribute's type, or is no valid text: a foreign writer's.
    ///
    /// It is left as it is.
    case undecodable
    /// The present value is not the one that was expected, or that an undo would take back.
    ///
    /// Nothing was changed.
    case conflict

    // MARK: Keeping

    /// A file is there already where one was to be made, and was not to be replaced.
    case alreadyExists
    /// `check` finds problems in what was to be backed up or restored, beyond damaged pages.
    ///
    /// Nothing was changed; `ignoringProblems` goes on all the same.
    case problemsFound
    /// No write of this library ended at the revision that was to be undone.
    case revisionNotFound

    // MARK: The log

    /// A text that is no cursor, or one of a newer version.
    case badCursor
    /// The changes after the cursor were forgotten: read the present state and go on from there.
    case compacted
    /// The log does not go on from the cursor: a restored backup, a lost commit, triggers that were missing for a while,
    /// or another database.
    case diverged
    /// Another consumer took the name, here or in another process, or the name was removed.
    ///
    /// What was acknowledged before holds; nothing is acknowledged any more.
    case superseded
    /// Another file took the place of the one that was open.
    case replaced
  }
}

extension StoreError.Code {
  /// Matches an error that has this code, in `catch` and `case`.
  public static func ~= (code: StoreError.Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
}

extension StoreError {
  /// What the system said of a file.
  ///
  /// - Parameters:
  ///   - error: What it said.
  ///   - code: The kind, when the error number does not tell it.
  init(_ error: SystemError, otherwise code: Code) {
    let code: Code =
      if SystemError.meansNoPermission(error.number) { .noPermission } else if SystemError.meansNoSpace(error.number) {
        .diskFull
      } else if error.alreadyExists { .alreadyExists } else { code }
    self.init(code, error.description, cause: error)
  }
}
