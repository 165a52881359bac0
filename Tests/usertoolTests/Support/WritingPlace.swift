/// A place where the tool creates a file, or writes to one.
enum WritingPlace: String, CaseIterable {
  case initialize, add, importInto, restoreInto
  case backup, replacingBackup, export, replacingExport, rejects, cursorFile

  /// Whether the file becomes a database.
  var makesDatabase: Bool {
    [.initialize, .add, .importInto, .restoreInto, .backup, .replacingBackup].contains(self)
  }

  /// Whether the file is the database of the command.
  var isDatabase: Bool { [.initialize, .add, .importInto, .restoreInto].contains(self) }

  private var replaces: Bool { [.replacingBackup, .replacingExport, .cursorFile].contains(self) }
  var isExport: Bool { [.export, .replacingExport].contains(self) }

  /// The kinds of paths of which the command must think; not the database that a restore would replace.
  var kinds: [PathKind] {
    PathKind.allCases.filter { self != .restoreInto || ![.database, .linkToDatabase].contains($0) }
  }

  /// What the command must do with a path.
  func writes(_ kind: PathKind) -> Bool {
    switch kind {
    case .missing, .newline, .danglingLink: true
    case .file, .linkToFile: replaces
    // SQLite must be able to add to the name.
    case .longName, .longPath: !makesDatabase
    // SQLite deletes a -journal file beside a database that it creates.
    case .missingFolder, .besideJournal: isDatabase
    case .pipe, .device: isExport
    // An existing database is opened.
    case .database, .linkToDatabase: [.initialize, .add, .importInto].contains(self)
    default: false
    }
  }

  /// The command line, for a path, a database, and a folder with the files that `WritingScene` has made.
  func arguments(_ path: String, _ database: String, _ folder: String) -> [String] {
    switch self {
    case .initialize: ["init", "--db", path]
    case .add: ["add", "X", "--db", path]
    case .importInto: ["import", folder + "/users.jsonl", "--db", path]
    case .restoreInto: ["restore", database + ".closed", "--db", path]
    case .backup: ["backup", path, "--db", database]
    case .replacingBackup: ["backup", path, "--force", "--db", database]
    case .export: ["export", path, "--db", database]
    case .replacingExport: ["export", path, "--force", "--db", database]
    case .rejects: ["import", folder + "/bad.jsonl", "--rejects", path, "--db", database]
    case .cursorFile: ["watch", "--cursor-file", path, "--no-initial", "--db", database]
    }
  }
}
