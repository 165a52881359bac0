import ArgumentParser
import Foundation

/// `userserver token`: makes keys and tokens for development, and explains tokens.
struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    _superCommandName: "userserver",
    abstract: "Make keys and tokens for development, and explain tokens.",
    discussion: """
      userserver token key dev.key
      userserver token issue --key dev.key --issuer dev --audience users --subject ann --read all --write 1,2 > ann.token
      userserver token show - --access-key dev.key.pub < ann.token
      userserver --access-key dev.key.pub --access-issuer dev --access-audience users

      In production, the service where people sign in issues the tokens, and the server gets only its public keys.
      """,
    subcommands: [TokenKey.self, TokenIssue.self, TokenShow.self])
}

/// A command that waits for asynchronous work.
protocol TokenSubcommand: ParsableCommand {
  func perform() async throws
}

/// Ids as `1,2,-5`, or `all`.
struct ScopeArgument: ExpressibleByArgument {
  let scope: AccessClaims.Scope

  init?(argument: String) {
    if argument == "all" {
      scope = .all
      return
    }
    let ids = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int64($0) }
    if ids.contains(nil) { return nil }
    scope = .ids(Set(ids.compactMap { $0 }))
  }
}

/// The names of attributes as `name,hair_color`.
struct AttributesArgument: ExpressibleByArgument {
  let names: [String]

  init?(argument: String) {
    names = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if names.contains("") { return nil }
  }
}
