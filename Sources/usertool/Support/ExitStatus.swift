import UserStore

/// How the tool ends; scripts rely on the numbers.
enum ExitStatus: Int32 {
  case success = 0
  case failure = 1
  /// No such user, attribute or revision, or a name that several users have.
  case notFound = 3
  /// `--expect` was not met, what an undo would take back was changed since, or somebody else took a consumer's name.
  case conflict = 4
  /// Another process held the database for too long.
  case busy = 5
  /// The log does not go on from the cursor.
  case history = 6
  case usage = 64
  /// Bad input data: a value, a cursor, a file that is no store.
  case badData = 65
  /// No input file or database.
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
  /// What an error of the store means for whoever called the tool.
  init(_ code: StoreError.Code) {
    self =
      switch code {
      case .userNotFound, .revisionNotFound: .notFound
      case .conflict, .superseded, .userExists: .conflict
      case .busy: .busy
      case .compacted, .diverged, .replaced: .history
      case .badValue, .undecodable, .badCursor, .notADatabase, .notAUserStore, .corrupt: .badData
      case .schemaTooNew, .schemaTooOld, .schemaChanged, .logIncomplete, .problemsFound: .badData
      case .notFound, .cannotOpen: .noInput
      case .cannotCreate, .alreadyExists: .cannotCreate
      case .noPermission, .needsWriter, .readOnly: .noPermission
      default: .failure
      }
  }
}
