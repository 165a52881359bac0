import UserStore
import UserStoreText

struct Failure: Error {
  let status: ExitStatus
  /// The store's code; nil for failures of the tool itself.
  private(set) var code: StoreError.Code?
  let message: String
  /// What the user can do, in one line.
  var hint: String?
  /// Whether the store gave the hint: then the one for the error's code does not help.
  private(set) var hasHintOfStore = false
  /// Lines between the message and the hint, such as candidates.
  var details: [String] = []
  /// Whether the failure reports that something was, or may have been, committed; it is then printed even after a signal.
  private(set) var tellsOfCommit: Bool

  init(
    _ status: ExitStatus, _ message: String, hint: String? = nil, details: [String] = [], tellsOfCommit: Bool = false
  ) {
    self.status = status
    self.message = message
    self.hint = hint
    self.details = details
    self.tellsOfCommit = tellsOfCommit
  }
}

extension Failure {
  /// A failure for an error of the store, with the command's own hint, else the error's, else the one for its code.
  init(_ error: StoreError, hint: String? = nil) {
    // Not the status of `cannotOpen`: nothing is wrong with the file.
    let lacksDescriptors = error.meansNoDescriptors
    self.init(
      lacksDescriptors ? .failure : ExitStatus(error.code), error.message,
      hint: lacksDescriptors ? Self.moreDescriptors : hint ?? error.hint ?? Self.hint(for: error.code))
    code = error.code
    hasHintOfStore = error.hint != nil
    tellsOfCommit = error.code == .commitUnknown
  }

  init(_ error: StoreError, opening database: DatabaseAddress) {
    self.init(error, in: database)
    if [.notFound, .needsAdoption].contains(error.code) { hint = Self.hint(for: error.code) }
    if error.code == .notFound, case .file(let path) = database, !Self.canBeCreated(path) {
      hint = "choose another file with --db"
    }
  }

  /// Whether `usertool init` can create a database at a path, and its folder if that is missing.
  private static func canBeCreated(_ path: String) -> Bool {
    do throws(StoreError) { _ = try WritablePath(path, createsDatabase: true) } catch {
      return !System.exists(Files.split(path).folder)
    }
    return true
  }

  init(_ error: StoreError, in database: DatabaseAddress) {
    self.init(error)
    guard case .postgres = database, error.hint == nil else { return }
    switch error.code {
    case .cannotOpen, .connectionLost: hint = "psql must be able to connect to the same address"
    case .readOnly: hint = "connect to the primary, with a role that may write"
    case .noPermission:
      hint = "ask the owner of the database to run usertool init with --writer or --reader, and your role"
    case .schemaTooOld: hint = "ask the owner of the database to run usertool init"
    case .corrupt, .schemaChanged: hint = "usertool check lists the damage"
    default: break
    }
  }

  static let moreDescriptors = "too many files are open: close some, or raise the limit with ulimit -n"

  private static func hint(for code: StoreError.Code) -> String? {
    switch code {
    case .notFound: "create it with usertool init"
    case .busy: "another program is writing; try again, or wait longer with --busy-timeout 30s"
    case .behind: "try again, wait longer with --busy-timeout 30s, or connect to the primary"
    case .noPermission, .readOnly: "ask the owner of the file, or choose another file with --db"
    case .needsWriter: "it can be read while another program has it open for writing; watch waits for that"
    case .notADatabase, .notAUserStore, .cannotOpen, .cannotCreate: "choose another file with --db"
    case .alreadyExists: "choose another file, or replace it with --force"
    case .needsAdoption: "take it over with usertool init --adopt"
    case .schemaTooNew: "update usertool"
    case .schemaTooOld, .logIncomplete: "run a writing command, such as usertool init, to fix this"
    case .corrupt: "usertool check lists the damage; usertool restore restores a backup"
    case .diskFull: "nothing was changed; free disk space and try again"
    case .commitUnknown: "read the record again: the change may or may not have been written"
    case .superseded: "give each watch its own name with --consumer NAME"
    case .badCursor: "pass a cursor exactly as watch or log printed it"
    default: nil
    }
  }
}

extension Failure {
  /// A failure for a mistake in an option or an argument, with carets below the mistake.
  ///
  /// For an impossible value, the message names it, and neither the option nor carets are needed.
  init(_ mistake: TextError) {
    let isValue = mistake.kind == .value && mistake.range != nil
    let prefix = isValue ? nil : mistake.parameter.map { "--\($0): " }
    let details =
      if !isValue, let text = mistake.text, let range = mistake.range { Self.pointer(to: range, in: text) } else {
        [String]()
      }
    let status = mistake.kind == .value ? ExitStatus.badData : .usage
    self.init(status, (prefix ?? "") + mistake.message, hint: mistake.hint, details: details)
  }

  private static func pointer(to range: Range<Int>, in text: String) -> [String] {
    func columns(_ range: Range<Int>) -> Int {
      String(String.UnicodeScalarView(text.unicodeScalars.dropFirst(range.lowerBound).prefix(range.count))).shown
        .columns
    }
    // At least one caret, where something is missing.
    let carets = String(repeating: "^", count: max(1, columns(range)))
    return [text.shown, String(repeating: " ", count: columns(0..<range.lowerBound)) + carets]
  }
}
