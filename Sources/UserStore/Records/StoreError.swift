/// An error of the store.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// What happened; names the user, the attribute or the file.
  public let message: String
  /// What you can do about it, if that follows from the error.
  public let hint: String?
  /// The underlying error, if there is one.
  public let cause: (any Error)?

  /// Creates an error.
  public init(_ code: Code, _ message: String, hint: String? = nil, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
    self.cause = cause
  }

  /// The message, and the hint in parentheses.
  public var description: String { message + (hint.map { " (\($0))" } ?? "") }
}

extension StoreError {
  /// A kind of error.
  ///
  /// A `catch` can name one: `catch StoreError.Code.closed`. Later versions may add codes.
  ///
  /// Every write can throw the codes under “Reading and writing”, and, because it may open another connection, `cannotOpen`,
  /// `noPermission`, and `notADatabase`. So can every read, except `commitUnknown`, `mustReopen`, `rolledBackWithGroup`, and
  /// `tooManyRounds`.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, such as `closed`.
    public let rawValue: String

    /// Creates a code from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the code.
    public var description: String { rawValue }
  }
}

// Static members, because `catch` matches only these with `~=`: it takes a case of an enum for an error of that type.
// swift-format-ignore: NoAccessLevelOnExtensionDeclaration
public extension StoreError.Code {
  // MARK: Opening

  /// The file does not exist, and `access` does not allow creating it.
  static let notFound = Self(rawValue: "notFound")
  /// The path cannot be a database (it is a folder, a pipe, a device, too long, or on a network file system); or the file has
  /// several names (hard links) and was to be opened for writing; or the system cannot open it now, for example because the process
  /// has too many open files.
  static let cannotOpen = Self(rawValue: "cannotOpen")
  /// The file or its folder cannot be created, for example under a name that SQLite gives to its own files beside a database.
  static let cannotCreate = Self(rawValue: "cannotCreate")
  /// The process has no permission for the file or for its folder.
  static let noPermission = Self(rawValue: "noPermission")
  /// The process can read the file, but cannot write to the folder, where SQLite needs to create its -shm file, and no process
  /// that can write to it has the store open.
  ///
  /// Try again later: the store can be read while a writer has it open, and after a writer has crashed.
  static let needsWriter = Self(rawValue: "needsWriter")
  /// The file is not an SQLite database, or is encrypted.
  static let notADatabase = Self(rawValue: "notADatabase")
  /// The file is an SQLite database of another program.
  static let notAUserStore = Self(rawValue: "notAUserStore")
  /// The file has the tables of a store but not its mark: it is a copy whose rows were written again, as by the .dump and .clone
  /// of the sqlite3 shell.
  ///
  /// `usertool init --adopt` takes it over.
  static let needsAdoption = Self(rawValue: "needsAdoption")
  /// A newer version of the library wrote the file.
  static let schemaTooNew = Self(rawValue: "schemaTooNew")
  /// An older version of the library wrote the file, and it was opened only for reading; open it for writing once.
  static let schemaTooOld = Self(rawValue: "schemaTooOld")
  /// Tables, triggers, views or migrations in the file are not those of the library; none of them was run.
  static let schemaChanged = Self(rawValue: "schemaChanged")
  /// The store was opened only for reading, and a trigger of the log is missing: later changes are not in the log.
  static let logIncomplete = Self(rawValue: "logIncomplete")

  // MARK: Reading and writing

  /// Another process held a lock for longer than `busyTimeout`; nothing was changed; you can try again.
  static let busy = Self(rawValue: "busy")
  /// The store was opened only for reading, the file or its file system is read-only, or the server is a replica.
  static let readOnly = Self(rawValue: "readOnly")
  /// The store is a replica, whose users are written at its server; nothing was changed.
  ///
  /// The message has the server's address.
  static let readOnlyReplica = Self(rawValue: "readOnlyReplica")
  /// A replica sends changes that were written for somebody else than its server knows it as; nothing was changed.
  static let wrongSubject = Self(rawValue: "wrongSubject")
  /// A replica was to be made of a store that has users; nothing was changed: the copy would remove them.
  static let notEmpty = Self(rawValue: "notEmpty")
  /// The disk is full; nothing was changed; you can write again when there is space.
  static let diskFull = Self(rawValue: "diskFull")
  /// The database file is damaged.
  static let corrupt = Self(rawValue: "corrupt")
  /// Reading or writing the file failed; nothing was changed.
  static let ioError = Self(rawValue: "ioError")
  /// The open file was moved, deleted or replaced, so that a write would be lost; reopen the store.
  static let moved = Self(rawValue: "moved")
  /// COMMIT failed in a sync, so that the change may or may not be there after a crash; or no server answered in time after COMMIT;
  /// or the server has committed, but its wait for a synchronous standby was ended, so that a failover may lose the change.
  ///
  /// A store in a file refuses writes until you reopen it. One on a server can write again. If the change survived, the log
  /// delivers it then.
  static let commitUnknown = Self(rawValue: "commitUnknown")
  /// A store in a file refuses writes after `commitUnknown`.
  static let mustReopen = Self(rawValue: "mustReopen")
  /// The store was closed.
  static let closed = Self(rawValue: "closed")
  /// `read` or `write` was called inside a `read` or `write` of the same store.
  static let nested = Self(rawValue: "nested")
  /// A connection that was passed to the store is of another database, is not in a transaction, or does not run triggers.
  static let misuse = Self(rawValue: "misuse")
  /// SQLite ended the transaction after an error that the closure ignored; nothing was changed.
  static let transactionEnded = Self(rawValue: "transactionEnded")
  /// SQLite ended a transaction that this write shared with others; nothing was changed; you can try again.
  static let rolledBackWithGroup = Self(rawValue: "rolledBackWithGroup")
  /// Writes by listeners cause one another, and this one would be the 1,001st in a row; it changed nothing.
  static let tooManyRounds = Self(rawValue: "tooManyRounds")
  /// The connection to the server was lost, and no record was changed; the next call connects again.
  ///
  /// An acknowledgment, or a step of a compaction, may have been saved; both can be repeated.
  static let connectionLost = Self(rawValue: "connectionLost")
  /// The engine of the store, or the version of the server, does not support this; nothing was changed.
  static let unsupported = Self(rawValue: "unsupported")
  /// SQLite is out of memory; nothing was changed.
  static let outOfMemory = Self(rawValue: "outOfMemory")
  /// SQLite reported an error that has no other code.
  static let unexpected = Self(rawValue: "unexpected")

  // MARK: Records

  /// No user has this id.
  static let userNotFound = Self(rawValue: "userNotFound")
  /// The user to purge exists; nothing was changed: remove the user first.
  static let userExists = Self(rawValue: "userExists")
  /// The user cannot be removed, because a foreign key of another table refers to it; or a restore would leave such rows without
  /// their user.
  static let stillReferenced = Self(rawValue: "stillReferenced")
  /// The store does not accept the value: an empty or too long name, control characters in a name, NaN, a value that
  /// is too large, or a query that cannot be run, such as one with a limit of 0.
  static let badValue = Self(rawValue: "badValue")
  /// A stored value, which stays as it is, is not of the attribute's type or not valid UTF-8: a foreign writer stored it.
  static let undecodable = Self(rawValue: "undecodable")
  /// The current value is not the expected one, or not the one that an undo would revert; nothing was changed.
  static let conflict = Self(rawValue: "conflict")

  /// Another user has the value of a unique attribute; or several users have the same value of one that is to be unique.
  ///
  /// Nothing was changed. `StoreError.notUnique` has the attribute, the value, and the user.
  static let notUnique = Self(rawValue: "notUnique")

  // MARK: Backup, restore, undo

  /// The destination already exists, and `replacing` is false.
  static let alreadyExists = Self(rawValue: "alreadyExists")
  /// `check` found problems, other than damaged pages, in the store to back up or the file to restore.
  ///
  /// Nothing was changed; `ignoringProblems` overrides this.
  static let problemsFound = Self(rawValue: "problemsFound")
  /// No write of this library ended at the revision to undo.
  static let revisionNotFound = Self(rawValue: "revisionNotFound")

  // MARK: The log

  /// The text is not a cursor, or is one of a newer version.
  static let badCursor = Self(rawValue: "badCursor")
  /// Changes after the cursor were deleted: read the current records, and continue from there.
  static let compacted = Self(rawValue: "compacted")
  /// The log does not continue after the cursor: a backup was restored, a commit was lost, triggers were missing for a while,
  /// or the cursor is from another database.
  static let diverged = Self(rawValue: "diverged")
  /// The server is a replica that has not yet received the changes through the cursor, or through what the store has read from
  /// another server; you can try again.
  ///
  /// If the primary failed and had not sent those changes to the replica that replaced it, they are lost: then the code becomes
  /// `diverged` when the log has grown past them.
  static let behind = Self(rawValue: "behind")
  /// Another consumer took over the name, in this or another process, or the name was removed.
  ///
  /// Earlier acknowledgments stay; this consumer cannot acknowledge any more sets.
  static let superseded = Self(rawValue: "superseded")
  /// Another file was put in place of the open one.
  static let replaced = Self(rawValue: "replaced")
}

extension StoreError.Code {
  /// Matches an error that has this code, in `catch` and `case`.
  public static func ~= (code: StoreError.Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
}

extension StoreError {
  package static func behind(at end: Int64, awaiting revision: Int64) -> StoreError {
    StoreError(
      .behind,
      """
      the server is a replica whose log ends at revision \(end), before revision \(revision): try again later, or read from \
      the primary
      """)
  }

  /// Returns the error itself if it is one of the store, and otherwise one with the code `unexpected`.
  init(_ error: any Error) { self = error as? StoreError ?? StoreError(.unexpected, "\(error)", cause: error) }

  /// Creates an error for a failed file operation; `code` is for error numbers that have no code of their own.
  package init(_ error: SystemError, otherwise code: Code) {
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
