import UserStore

/// The exit codes; scripts rely on the numbers.
enum ExitStatus: Int32 {
  case success = 0
  case failure = 1
  /// No such user, attribute or revision, or several users with the name.
  case notFound = 3
  /// `--expect` was not met, another user has a unique value, the value to undo has changed since, or another consumer took over the name.
  case conflict = 4
  /// Another process held the database for too long, or a replica is too far behind.
  case busy = 5
  /// The log does not continue from the cursor.
  case history = 6
  case usage = 64
  /// Bad input data: a value, a cursor, or a file that is not a store.
  case badData = 65
  /// No input file or no database.
  case noInput = 66
  case cannotCreate = 73
  case noPermission = 77
  case timeout = 124
  case hungUp = 129
  case interrupted = 130
  case brokenPipe = 141
  case terminated = 143
}

extension ExitStatus {
  init(_ code: StoreError.Code) {
    self =
      switch code {
      case .userNotFound, .revisionNotFound: .notFound
      case .conflict, .notUnique, .superseded, .userExists, .stillReferenced, .notEmpty: .conflict
      case .busy, .behind: .busy
      case .compacted, .diverged, .replaced: .history
      case .badValue, .undecodable, .badCursor, .notADatabase, .notAUserStore, .corrupt: .badData
      case .needsAdoption, .schemaTooNew, .schemaTooOld, .schemaChanged, .logIncomplete, .problemsFound: .badData
      case .notFound, .cannotOpen: .noInput
      case .cannotCreate, .alreadyExists: .cannotCreate
      case .noPermission, .needsWriter, .readOnly, .readOnlyReplica: .noPermission
      default: .failure
      }
  }
}

/// Ends a command with a status and no further message.
struct Exit: Error {
  let status: ExitStatus
}
