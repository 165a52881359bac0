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
  /// More may come: match with a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The value that stands for it.
    public let rawValue: String

    /// Makes one of its raw value.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    // MARK: Opening

    /// There is no database at the path, and it was not to be created.
    public static let notFound = Code(rawValue: "notFound")
    /// The path cannot be a database: a folder, a pipe, a device, anything on a network file system; or the file has several
    /// names (hard links) and was to be opened for writing; or the system did not open the file now, for want of descriptors
    /// for example.
    public static let cannotOpen = Code(rawValue: "cannotOpen")
    /// The file or its folder cannot be created.
    public static let cannotCreate = Code(rawValue: "cannotCreate")
    /// The rights of the process do not suffice, for the file or for the folder that it lies in.
    public static let noPermission = Code(rawValue: "noPermission")
    /// The process may read the file, but not write its folder, and nobody who may has the store open: SQLite must make
    /// its -shm file there.
    ///
    /// It may be tried again: while a writer has the store open, and after one that crashed, the store can be read.
    public static let needsWriter = Code(rawValue: "needsWriter")
    /// The file is no SQLite database, or one that is encrypted.
    public static let notADatabase = Code(rawValue: "notADatabase")
    /// The file is an SQLite database of another program.
    public static let notAUserStore = Code(rawValue: "notAUserStore")
    /// A newer version of the library wrote the file.
    public static let schemaTooNew = Code(rawValue: "schemaTooNew")
    /// An older version wrote the file, and it was opened only for reading: a writer must open it once.
    public static let schemaTooOld = Code(rawValue: "schemaTooOld")
    /// Tables, triggers, views or migrations in the file are not those of the library.
    ///
    /// Nothing of them was run.
    public static let schemaChanged = Code(rawValue: "schemaChanged")
    /// The store was opened only for reading and a trigger of the log is missing: what was written since is not in it.
    public static let logIncomplete = Code(rawValue: "logIncomplete")

    // MARK: Reading and writing

    /// Another process held a lock for longer than `busyTimeout`.
    ///
    /// Nothing was changed; it may be tried again.
    public static let busy = Code(rawValue: "busy")
    /// A write in a store that was opened only for reading, or on a file or file system that allows no writing.
    public static let readOnly = Code(rawValue: "readOnly")
    /// No space left.
    ///
    /// Nothing was changed; the store goes on once there is space.
    public static let diskFull = Code(rawValue: "diskFull")
    /// The database file is damaged.
    public static let corrupt = Code(rawValue: "corrupt")
    /// Reading or writing the file failed.
    ///
    /// Nothing was changed.
    public static let ioError = Code(rawValue: "ioError")
    /// The file was moved, deleted or replaced while it was open: what would be written now, nobody would find.
    ///
    /// Reopen.
    public static let moved = Code(rawValue: "moved")
    /// COMMIT failed while it synced: the change may be found after a crash, or may not.
    ///
    /// The store refuses writes until it is reopened; if the change survived, the log then delivers it.
    public static let commitUnknown = Code(rawValue: "commitUnknown")
    /// A write after `commitUnknown`.
    public static let mustReopen = Code(rawValue: "mustReopen")
    /// The store was closed.
    public static let closed = Code(rawValue: "closed")
    /// `read` or `write` of a store inside another one of the same store.
    public static let nested = Code(rawValue: "nested")
    /// SQLite ended the transaction after an error that the closure ignored.
    ///
    /// Nothing was changed.
    public static let transactionEnded = Code(rawValue: "transactionEnded")
    /// SQLite ended a transaction that this write shared with others.
    ///
    /// Nothing was changed; it may be tried again.
    public static let rolledBackWithGroup = Code(rawValue: "rolledBackWithGroup")
    /// Listeners answer each other without end: the write that would go beyond the limit.
    ///
    /// Nothing was changed by it.
    public static let tooManyRounds = Code(rawValue: "tooManyRounds")
    /// SQLite found no memory.
    ///
    /// Nothing was changed.
    public static let outOfMemory = Code(rawValue: "outOfMemory")
    /// SQLite reported something that no other code covers.
    public static let unexpected = Code(rawValue: "unexpected")

    // MARK: Records

    /// No user has this id.
    public static let userNotFound = Code(rawValue: "userNotFound")
    /// A purge of a user that is still there.
    ///
    /// Nothing was changed: remove the user first.
    public static let userExists = Code(rawValue: "userExists")
    /// A value that the store does not take: an empty or over-long name, control characters in it, not-a-number, too big; or
    /// a page size that SQLite does not have.
    public static let badValue = Code(rawValue: "badValue")
    /// A stored value is not of the attribute's type, or is no valid text: a foreign writer's.
    ///
    /// It is left as it is.
    public static let undecodable = Code(rawValue: "undecodable")
    /// The present value is not the one that was expected, or that an undo would take back.
    ///
    /// Nothing was changed.
    public static let conflict = Code(rawValue: "conflict")

    // MARK: Keeping

    /// A file is there already where one was to be made, and was not to be replaced.
    public static let alreadyExists = Code(rawValue: "alreadyExists")
    /// `check` finds problems in what was to be backed up or restored, beyond damaged pages.
    ///
    /// Nothing was changed; `ignoringProblems` goes on all the same.
    public static let problemsFound = Code(rawValue: "problemsFound")
    /// No write of this library ended at the revision that was to be undone.
    public static let revisionNotFound = Code(rawValue: "revisionNotFound")

    // MARK: The log

    /// A text that is no cursor, or one of a newer version.
    public static let badCursor = Code(rawValue: "badCursor")
    /// The changes after the cursor were forgotten: read the present state and go on from there.
    public static let compacted = Code(rawValue: "compacted")
    /// The log does not go on from the cursor: a restored backup, a lost commit, triggers that were missing for a while,
    /// or another database.
    public static let diverged = Code(rawValue: "diverged")
    /// Another consumer took the name, here or in another process, or the name was removed.
    ///
    /// What was acknowledged before holds; nothing is acknowledged any more.
    public static let superseded = Code(rawValue: "superseded")
    /// Another file took the place of the one that was open.
    public static let replaced = Code(rawValue: "replaced")
  }
}

extension StoreError {
  /// What SQLite said, in the store's words.
  ///
  /// - Parameters:
  ///   - error: What it said.
  ///   - what: What was being done: `cannot WHAT`.
  init(_ error: SQLiteError, _ what: String) {
    self.init(Code(error), "cannot \(what): \(Self.reason(error))", cause: error)
  }

  private static func reason(_ error: SQLiteError) -> String {
    switch Code(error) {
    case .busy: "the database is locked by another process"
    case .diskFull: "no space left on the device"
    case .notADatabase: "the file is not a database"
    case .corrupt: "the database is damaged (\(error.message))"
    case .readOnly: "the database can only be read (\(error.message))"
    case .closed: "the store was closed"
    case .ioError, .noPermission, .cannotOpen:
      error.systemNumber == 0 ? error.message : "\(error.message): \(SystemError.text(error.systemNumber))"
    default: error.description
    }
  }
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
      } else if error.isInTheWay { .alreadyExists } else { code }
    self.init(code, error.description, cause: error)
  }
}

extension StoreError.Code {
  init(_ error: SQLiteError) {
    if SystemError.meansNoSpace(error.systemNumber), [.ioError, .full, .cannotOpen].contains(error.code.primary) {
      self = .diskFull
      return
    }
    self =
      switch error.code.primary {
      // After ten seconds of its own, which no timeout changes, in which it got no lock on the -shm file.
      case .busy, .locked, .lockingProtocol: .busy
      case .readOnly where error.code == .readOnlyCannotInit || error.code == .readOnlyFolder: .noPermission
      case .readOnly where error.code == .readOnlyMoved: .moved
      case .readOnly: .readOnly
      case .full: .diskFull
      // No statement of the library breaks a rule of its tables, unless they hold what they cannot hold.
      case .corrupt, .constraint, .mismatch: .corrupt
      case .notADatabase: .notADatabase
      case .permission, .authorization: .noPermission
      case .cannotOpen: SystemError.meansNoPermission(error.systemNumber) ? .noPermission : .cannotOpen
      case .ioError: SystemError.meansNoPermission(error.systemNumber) ? .noPermission : .ioError
      case .outOfMemory: .outOfMemory
      case .tooBig: .badValue
      // Only the end of a store interrupts statements.
      case .interrupted: .closed
      default: .unexpected
      }
  }
}

extension StoreError {
  /// Whether the process could open no more files.
  ///
  /// Not a code of its own: new public API waits. `cannotOpen` covers it.
  package var meansNoDescriptors: Bool {
    switch cause {
    case let cause as SQLiteError: SystemError.meansNoDescriptors(cause.systemNumber)
    case let cause as SystemError: SystemError.meansNoDescriptors(cause.number)
    default: false
    }
  }
}

/// Runs what speaks SQLite's errors, and turns them into the store's.
func storing<Result: ~Copyable>(
  _ what: @autoclosure () -> String, _ body: () throws(SQLiteError) -> Result
) throws(StoreError) -> Result {
  do { return try body() } catch { throw StoreError(error, what()) }
}
