import ArgumentParser
import UserStore
import UserStoreText

/// A user on the command line: an id, a name that only one user has, `id:` and an id, or `name:` and a name.
///
/// Users who were added on replicas, or by other programs, have negative ids. Messages write them as `id:-5`, because the completions of
/// shells read `-5` as an option.
struct UserReference: ExpressibleByArgument, Sendable {
  let text: String

  init(argument: String) {
    text = argument
  }

  static var defaultCompletionKind: CompletionKind { Completions.users }

  /// The id, if the text is a whole number.
  var id: User.ID? { Self.number(in: text).flatMap { Int64($0) }.map { User.ID($0) } }

  /// The text if it is a number, or the number after the prefix `id:`; nil for any other text.
  private static func number(in text: String) -> String? {
    let number = text.utf8.starts(with: idPrefix.utf8) ? text.droppingBytes(idPrefix.utf8.count) : text
    let digits = number.utf8.first == UInt8(ascii: "-") ? number.utf8.dropFirst() : number.utf8[...]
    return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) } ? number : nil
  }

  private static let idPrefix = "id:"
  static let namePrefix = "name:"

  static func text(of id: User.ID) -> String { id.rawValue < 0 ? idPrefix + "\(id)" : "\(id)" }

  var name: String { text.utf8.starts(with: Self.namePrefix.utf8) ? text.droppingBytes(5) : text }

  /// Whether a name without the prefix would be read as an id, an option, or another name.
  static func needsPrefix(_ name: String) -> Bool {
    name.isEmpty || number(in: name) != nil || ["-", namePrefix].contains { name.utf8.starts(with: $0.utf8) }
  }

  /// Finds the user; throws a `Failure` with status `notFound` if there is none, or if several have the name.
  func resolve<Mode>(in transaction: inout Transaction<Mode>) throws -> User {
    if let number = Self.number(in: text) { return try resolve(number, in: &transaction) }
    let ids = try transaction.ids(named: name)
    guard ids.count <= 1 else { throw try ambiguous(ids, &transaction) }
    if let id = ids.first, let user = try transaction.user(id) { return user }
    let question = Suggestion.question(for: name, among: try Self.names(&transaction))
    throw Failure(.notFound, "no user \"\(name)\"" + question, hint: "usertool list shows all users")
  }

  private func resolve<Mode>(_ number: String, in transaction: inout Transaction<Mode>) throws -> User {
    if let id, let user = try transaction.user(id) { return user }
    let isName = try !transaction.ids(named: text).isEmpty
    throw Failure(
      .notFound, "no user has the id \(number)",
      hint: isName ? "a user has this name: name:\(text)" : "usertool list shows all users")
  }

  private func ambiguous<Mode>(_ ids: [User.ID], _ transaction: inout Transaction<Mode>) throws -> Failure {
    let candidates = try ids.prefix(20).compactMap { try transaction.user($0) }
    var details = candidates.map { $0.plainRecord.plain(isTerminal: true) }
    if ids.count > details.count { details.append("and \(ids.count - details.count) more") }
    return Failure(
      .notFound, "\(ids.count) users are named \"\(name)\"", hint: "specify one of them by id", details: details)
  }

  /// The names of the first 10,000 users, for suggestions; reading more would take too long.
  private static func names<Mode>(_ transaction: inout Transaction<Mode>) throws -> [String] {
    var names: [String] = []
    try transaction.iterateUsers { user in
      if let name = try? user.name { names.append(name) }
      return names.count < 10_000
    }
    return names
  }
}
