import ArgumentParser
import UserStore

/// What a shell may complete from the database.
///
/// Never an error, never long, and no database is created: a shell waits for it in the middle of a line.
struct Completions {
  private let shell: CompletionShell
  private let line: ShellLine
  /// What readline replaces: the end of what was typed of the last word.
  private let replaced: String
  private static let limit = 1_000

  /// nil for what cannot be completed, or not by this script: that of an older version, which may lie in a file for years,
  /// would run what stands in a name.
  ///
  /// - Parameter words: What a script of `usertool completion` hands over.
  private init?(_ words: [String]) {
    guard words.count == 3, words[0].isEmpty, let shell = CompletionShell.requesting else { return nil }
    self.shell = shell
    replaced = words[1]
    line = ShellLine(words[2], of: shell)
    guard !line.last.isExpanded, line.last.raw.hasSameSuffix(as: replaced) else { return nil }
  }

  /// Names of users.
  ///
  /// What a name would be taken for otherwise stands before it.
  static let users = CompletionKind.custom { words, _, _ in Completions(words)?.offered { $0.users() } ?? [] }

  /// Names of attributes, and `=` for a value to follow.
  static let assignments = CompletionKind.custom { words, _, _ in
    Completions(words)?.offered { $0.attributes().map { $0 + "=" } } ?? []
  }

  static let attributes = CompletionKind.custom { words, _, _ in Completions(words)?.offered { $0.attributes() } ?? [] }

  // MARK: What the shell gets

  /// What begins with what was typed, as the shell wants it.
  private func offered(_ candidates: (Completions) -> [String]) -> [String] {
    let typed = line.last.text
    var known: Set<[UInt8]> = []
    let texts = candidates(self).filter { mayOffer($0) && known.insert(Array($0.utf8)).inserted }
    if shell != .bash { return texts }
    return texts.compactMap { text in
      // A value follows the sign.
      let ends = texts.count == 1 && text.utf8.last != UInt8(ascii: "=")
      return line.bashQuoted(text.droppingBytes(typed.utf8.count), ends: ends).map { replaced + $0 }
    }
  }

  /// What would act on the terminal is not offered.
  private func mayOffer(_ text: String) -> Bool { text.utf8.starts(with: line.last.text.utf8) && text.shown == text }

  // MARK: What there is

  private func users() -> [String] {
    let (typed, prefix) = (line.last.text, UserReference.namePrefix)
    if typed.utf8.starts(with: prefix.utf8) {
      let rest = typed.droppingBytes(prefix.utf8.count)
      return names(from: rest, below: rest + Self.end) { prefix + $0 }
    }
    let offered = names(from: typed, below: typed + Self.end) { UserReference.needsPrefix($0) ? prefix + $0 : $0 }
    // Behind nothing stand all of them already.
    guard !typed.isEmpty, prefix.utf8.starts(with: typed.utf8) else { return offered }
    return [("-", "."), ("0", ":"), (prefix, "name;")].reduce(offered) { offered, range in
      offered + names(from: range.0, below: range.1) { UserReference.needsPrefix($0) ? prefix + $0 : nil }
    }
  }

  /// What comes after everything that begins with the same bytes.
  private static let end = "\u{10FFFF}"

  /// Names from one on, up to another one, each as it is offered.
  ///
  /// A shell types what all that is offered has in common, so that all which is left out must have it too. Most of the time
  /// that is nothing more than what was typed, and then it does not depend on the names that were not looked at.
  private func names(from lower: String, below upper: String, as spelled: (String) -> String?) -> [String] {
    var offered: [String] = []
    try? read { transaction in
      let names = try transaction.userNames(from: lower, below: upper, limit: Self.limit + 1)
      var found = names.compactMap(spelled)
      if names.count > Self.limit, haveMoreInCommon(found) {
        found += try transaction.outermostUserNames(from: lower, below: upper).compactMap(spelled)
      }
      offered = found
    }
    return offered
  }

  /// Whether the shell would add something to what was typed.
  private func haveMoreInCommon(_ texts: [String]) -> Bool {
    let count = line.last.text.utf8.count
    return Set(texts.filter(mayOffer).map { $0.utf8.dropFirst(count).first }).count < 2
  }

  private func attributes() -> [String] {
    var names = AttributeName.builtIn
    // Behind a dash stands an option.
    try? read { names += try $0.attributeNames.filter { !$0.text.utf8.starts(with: "-".utf8) } }
    return names.map(\.text)
  }

  /// Reads the database that the command line names.
  private func read(_ body: (inout ReadTransaction) throws -> Void) throws {
    var common = CommonOptions()
    if database?.isExpanded ?? false { return }
    common.db = database.map { $0.text.utf8.starts(with: "--db=".utf8) ? $0.text.droppingBytes(5) : $0.text }
    common.busyTimeout = Timespan(argument: "200ms")!
    try common.withStore(.readOnly) { try $0.read(body) }
  }

  private var database: ShellLine.Word? {
    let words = line.words.dropLast()
    if let index = words.firstIndex(where: { $0.text == "--db" }) { return words.dropFirst(index + 1).first }
    return words.first { $0.text.utf8.starts(with: "--db=".utf8) }
  }
}

extension String {
  fileprivate func hasSameSuffix(as end: String) -> Bool { utf8.reversed().starts(with: end.utf8.reversed()) }
}
