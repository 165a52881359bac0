import ArgumentParser
import UserStore
import UserStoreText

/// Completes users and attributes from the database.
///
/// A shell waits for them while somebody types, so they report no error, take little time, and create no database.
struct Completions {
  private let shell: CompletionShell
  private let line: ShellLine
  /// The end of the last word, which readline replaces.
  private let replaced: String
  private static let limit = 1_000

  /// Reads the completion script's arguments; nil if nothing can be completed, or the script is too old.
  ///
  /// An old script, which may stay in a file for years, would run code in a name.
  private init?(_ words: [String]) {
    guard words.count == 3, words[0].isEmpty, let shell = CompletionShell.requesting else { return nil }
    self.shell = shell
    replaced = words[1]
    line = ShellLine(words[2], of: shell)
    if line.last.isExpanded { return nil }
    guard line.last.raw.utf8.reversed().starts(with: replaced.utf8.reversed()) else { return nil }
  }

  /// The names of users, with a prefix if a name alone would be read as an id or an option.
  static let users = kind { $0.users() }
  static let attributes = kind { $0.attributes() }
  static let assignments = kind { $0.attributes().map { $0 + "=" } }
  /// The names of attributes, with a direction once a colon is typed.
  static let sortKeys = kind { completions in
    let names = completions.attributes()
    guard completions.line.last.text.utf8.contains(UInt8(ascii: ":")) else { return names }
    return names + names.flatMap { [$0 + ":asc", $0 + ":desc"] }
  }

  private static func kind(_ candidates: @escaping @Sendable (Completions) -> [String]) -> CompletionKind {
    .custom { words, _, _ in Completions(words)?.offered(candidates) ?? [] }
  }

  // MARK: Filtering and quoting

  private func offered(_ candidates: (Completions) -> [String]) -> [String] {
    let typed = line.last.text
    var known: Set<[UInt8]> = []
    let texts = candidates(self).filter { mayOffer($0) && known.insert(Array($0.utf8)).inserted }
    if shell != .bash { return texts }
    return texts.compactMap { text in
      // A word that ends with = is incomplete: the value follows.
      let ends = texts.count == 1 && text.utf8.last != UInt8(ascii: "=")
      return line.bashQuoted(text.droppingBytes(typed.utf8.count), ends: ends).map { replaced + $0 }
    }
  }

  /// Whether a candidate starts with the typed text and contains nothing that acts on the terminal.
  private func mayOffer(_ text: String) -> Bool { text.utf8.starts(with: line.last.text.utf8) && text.shown == text }

  // MARK: Candidates

  private func users() -> [String] {
    let (typed, prefix) = (line.last.text, UserReference.namePrefix)
    if typed.utf8.starts(with: prefix.utf8) {
      let rest = typed.droppingBytes(prefix.utf8.count)
      return names(from: rest, below: rest + Self.end) { prefix + $0 }
    }
    let named = names(from: typed, below: typed + Self.end) { UserReference.needsPrefix($0) ? prefix + $0 : $0 }
    let offered = named + negativeIDs(typed)
    // Without any typed text, the candidates already include the prefixed names.
    guard !typed.isEmpty, prefix.utf8.starts(with: typed.utf8) else { return offered }
    return [("-", "."), ("0", ":"), ("id:", "id;"), (prefix, "name;")].reduce(offered) { offered, range in
      offered + names(from: range.0, below: range.1) { UserReference.needsPrefix($0) ? prefix + $0 : nil }
    }
  }

  /// The negative ids once `id:` is typed, since those of users that were added on a replica are long.
  ///
  /// None of more than the limit: a shell would insert what the first ones have in common.
  private func negativeIDs(_ typed: String) -> [String] {
    guard typed.utf8.starts(with: "id:".utf8) else { return [] }
    var offered: [String] = []
    try? read { transaction in
      try transaction.iterateUsers(matching: Query(limit: Self.limit + 1, showing: [])) { user in
        guard user.id.rawValue < 0 else { return false }
        offered.append(UserReference.text(of: user.id))
        return true
      }
    }
    return offered.count > Self.limit ? [] : offered
  }

  /// Sorts after every text with the same beginning.
  private static let end = "\u{10FFFF}"

  /// The names from `lower` up to `upper`, as `spelled` writes them.
  ///
  /// A shell inserts the common prefix of all candidates. Names beyond the limit therefore matter if that prefix is longer than
  /// the typed text, which is rare.
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

  private func haveMoreInCommon(_ texts: [String]) -> Bool {
    let count = line.last.text.utf8.count
    return Set(texts.filter(mayOffer).map { $0.utf8.dropFirst(count).first }).count < 2
  }

  private func attributes() -> [String] {
    var names = AttributeName.builtIn
    // The shell would read a word that starts with a dash as an option.
    try? read { names += try $0.attributeNames.filter { !$0.text.utf8.starts(with: "-".utf8) } }
    return names.map(\.text)
  }

  private func read(_ body: (inout ReadTransaction) throws -> Void) throws {
    var common = CommonOptions()
    if database?.isExpanded ?? false { return }
    common.db = database.map { $0.text.utf8.starts(with: "--db=".utf8) ? $0.text.droppingBytes(5) : $0.text }
    common.busyTimeout = Timespan(argument: "200ms")!
    try common.read(body)
  }

  private var database: ShellLine.Word? {
    let words = line.words.dropLast()
    if let index = words.firstIndex(where: { $0.text == "--db" }) { return words.dropFirst(index + 1).first }
    return words.first { $0.text.utf8.starts(with: "--db=".utf8) }
  }
}
