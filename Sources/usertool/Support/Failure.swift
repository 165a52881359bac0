import UserStore

/// Why a command failed: a message, what may help, and the exit code.
struct Failure: Error {
  let status: ExitStatus
  /// What the store called it; nil when it is not from there.
  private(set) var code: StoreError.Code?
  let message: String
  /// One line: what to do.
  var hint: String?
  /// Lines between the two: candidates.
  var details: [String] = []

  init(_ status: ExitStatus, _ message: String, hint: String? = nil, details: [String] = []) {
    self.status = status
    self.message = message
    self.hint = hint
    self.details = details
  }
}

extension Failure {
  /// - Parameters:
  ///   - error: What the store said.
  ///   - hint: What may help, when the command knows better than the code.
  init(_ error: StoreError, hint: String? = nil) {
    // Not `cannotOpen`: nothing is wrong with the file.
    let isShort = error.meansNoDescriptors
    self.init(
      isShort ? .failure : ExitStatus(error.code), error.message,
      hint: isShort ? Self.moreDescriptors : hint ?? Self.hint(for: error.code))
    code = error.code
  }

  static let moreDescriptors = "too many files are open: close some, or raise the limit with ulimit -n"

  private static func hint(for code: StoreError.Code) -> String? {
    switch code {
    case .notFound: "create it with usertool init"
    case .busy: "another program is writing; try again, or wait longer with --busy-timeout 30s"
    case .noPermission, .readOnly: "ask the owner of the file, or name another one with --db"
    case .needsWriter: "while another program has it open for writing, it can be read; watch waits for that"
    case .notADatabase, .notAUserStore, .cannotOpen, .cannotCreate: "name another file with --db"
    case .alreadyExists: "name another file, or replace it with --force"
    case .schemaTooNew: "update usertool"
    case .schemaTooOld, .logIncomplete: "any writing command, such as usertool init, puts it right"
    case .corrupt: "usertool check says more; usertool restore brings a backup back"
    case .diskFull: "nothing was changed; make room and try again"
    case .commitUnknown: "read the record again: the change may be there, or not"
    case .superseded: "two watches need two names: --consumer NAME"
    case .compacted, .diverged, .replaced: "begin again without --after, --cursor-file or --no-resync"
    case .badCursor: "cursors are printed by watch and log, and are taken as they are"
    default: nil
    }
  }
}
