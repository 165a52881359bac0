import ArgumentParser
import UserStore

/// What a shell may complete from the database.
///
/// Never an error, never long, and no database is created: a shell waits for it in the middle of a line.
enum Completions {
  private static let limit = 1_000

  /// Names of users.
  ///
  /// What a name would be taken for otherwise stands before it.
  static let users = CompletionKind.custom { words, _, prefix in
    names(words).filter { $0.hasPrefix(prefix) }
  }

  /// Names of attributes, and `=` for a value to follow.
  static let assignments = CompletionKind.custom { words, _, prefix in
    attributes(words).map { $0 + "=" }.filter { $0.hasPrefix(prefix) }
  }

  static let attributes = CompletionKind.custom { words, _, prefix in
    attributes(words).filter { $0.hasPrefix(prefix) }
  }

  private static func names(_ words: [String]) -> [String] {
    var names: [String] = []
    try? read(words) { transaction in
      try transaction.forEachUser { user in
        guard names.count < limit else { throw Exit(status: .success) }
        // What would act on the terminal is not offered.
        if let name = try? user.name, name.shown == name { names.append(isNumber(name) ? "name:" + name : name) }
      }
    }
    return names
  }

  private static func attributes(_ words: [String]) -> [String] {
    var names = AttributeName.builtIn
    try? read(words) { names += try $0.attributeNames.filter { $0.shown == $0 } }
    return names
  }

  private static func isNumber(_ name: String) -> Bool { name.utf8.allSatisfy { (0x30...0x39).contains($0) } }

  /// Reads the database that the command line names.
  private static func read(_ words: [String], _ body: (inout ReadTransaction) throws -> Void) throws {
    var common = CommonOptions()
    common.db = database(words)
    common.busyTimeout = Timespan(argument: "200ms")!
    try common.withStore(.readOnly) { try $0.read(body) }
  }

  private static func database(_ words: [String]) -> String? {
    // bash takes = for a word of its own.
    if let index = words.firstIndex(of: "--db") { return words.dropFirst(index + 1).first { $0 != "=" } }
    return words.first { $0.hasPrefix("--db=") }.map { String($0.dropFirst(5)) }
  }
}
