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
